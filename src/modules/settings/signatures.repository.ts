import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';

export const MAX_SIGNATURES = 100;

export interface SignatureRow {
  id: string;
  name: string;
  html: string;
  text: string;
  own_text: boolean;
  is_default: boolean;
  created_at: Date;
  updated_at: Date;
}

export type SignatureFields = Pick<SignatureRow, 'id' | 'name' | 'html' | 'text' | 'own_text' | 'is_default'>;

const SIGNATURE = 'id, name, html, text, own_text, is_default, created_at, updated_at';

const list = workspace.statement<SignatureRow>(
  'settings.list_signatures',
  `SELECT ${SIGNATURE} FROM signatures WHERE tenant_id = $1 AND user_id = $2 AND id > $3 ORDER BY id LIMIT $4`,
);

const read = workspace.statement<SignatureRow>(
  'settings.read_signature',
  `SELECT ${SIGNATURE} FROM signatures WHERE tenant_id = $1 AND user_id = $2 AND id = $3`,
);

// One person's signatures change one after the other: the unique default needs no retry.
const lock = workspace.statement<never>(
  'settings.lock_signatures',
  `SELECT FROM tenant_members WHERE tenant_id = $1 AND user_id = $2 FOR NO KEY UPDATE`,
);

const clearDefault = workspace.statement<never>(
  'settings.clear_default_signature',
  `UPDATE signatures SET is_default = false, updated_at = now()
    WHERE tenant_id = $1 AND user_id = $2 AND is_default AND id <> $3`,
);

const create = workspace.statement<SignatureRow>(
  'settings.create_signature',
  `INSERT INTO signatures (tenant_id, user_id, id, name, html, text, own_text, is_default)
   SELECT $1, $2, $3, $4, $5, $6, $7, $8
    WHERE (SELECT count(*) FROM (SELECT FROM signatures WHERE tenant_id = $1 AND user_id = $2 LIMIT $9) s) < $9
   RETURNING ${SIGNATURE}`,
);

const update = workspace.statement<SignatureRow>(
  'settings.update_signature',
  `UPDATE signatures SET name = $4, html = $5, text = $6, own_text = $7, is_default = $8, updated_at = now()
    WHERE tenant_id = $1 AND user_id = $2 AND id = $3 RETURNING ${SIGNATURE}`,
);

const remove = workspace.statement<SignatureRow>(
  'settings.delete_signature',
  `DELETE FROM signatures WHERE tenant_id = $1 AND user_id = $2 AND id = $3 RETURNING ${SIGNATURE}`,
);

/** All SQL on signatures. */
@Injectable()
export class SignaturesRepository {
  constructor(private readonly db: Db) {}

  /** In the order of their making. */
  async list(ctx: RequestContext, after: string, limit: number): Promise<SignatureRow[]> {
    return this.db.query(list, [ctx.tenantId, ctx.userId, after, limit]);
  }

  async read(ctx: RequestContext, id: string, reader: Reader = this.db): Promise<SignatureRow | null> {
    return (await reader.query(read, [ctx.tenantId, ctx.userId, id]))[0] ?? null;
  }

  /** Makes other changes of this person's signatures wait for the end of the transaction. */
  async lock(tx: Tx, ctx: RequestContext): Promise<void> {
    await tx.query(lock, [ctx.tenantId, ctx.userId]);
  }

  /** Null: there are as many as there may be. */
  async create(tx: Tx, ctx: RequestContext, fields: SignatureFields): Promise<SignatureRow | null> {
    if (fields.is_default) await tx.query(clearDefault, [ctx.tenantId, ctx.userId, fields.id]);
    return (await tx.query(create, [...values(ctx, fields), MAX_SIGNATURES]))[0] ?? null;
  }

  async update(tx: Tx, ctx: RequestContext, fields: SignatureFields): Promise<SignatureRow> {
    if (fields.is_default) await tx.query(clearDefault, [ctx.tenantId, ctx.userId, fields.id]);
    return (await tx.query(update, values(ctx, fields)))[0] as SignatureRow;
  }

  async delete(tx: Tx, ctx: RequestContext, id: string): Promise<SignatureRow | null> {
    return (await tx.query(remove, [ctx.tenantId, ctx.userId, id]))[0] ?? null;
  }
}

const values = (ctx: RequestContext, { id, name, html, text, own_text, is_default }: SignatureFields) => [
  ctx.tenantId,
  ctx.userId,
  id,
  name,
  html,
  text,
  own_text,
  is_default,
];
