import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { type ColumnValues, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { textBytes } from '../../../platform/bounded-pages/page-bytes.js';
import { Signature } from './signature.entity.js';

// Released at the end of the transaction.
const lock = workspace.lock('settings.lock_signatures', 'signatures', 2);

const NOW = () => 'now()';

/** The signatures of the caller. */
@Injectable()
export class SignaturesRepository {
  constructor(private readonly db: Db) {}

  /** In the order of creation; signatures beyond the bytes of the page have only their ids. */
  async list(
    { tenantId, userId }: RequestContext,
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<(Signature & { fits: boolean })[]> {
    const size = `512 + ${textBytes('item.html', 'item.text')}`;
    return rowsOf(this.db, Signature).boundedPage(
      { tenant_id: tenantId, user_id: userId },
      ['id'],
      after,
      limit,
      { size },
    );
  }

  async find(
    { tenantId, userId }: RequestContext,
    id: string,
    reader: Reader = this.db,
  ): Promise<Signature | null> {
    return rowsOf(reader, Signature).one({ tenant_id: tenantId, user_id: userId, id });
  }

  /** Serialises the changes of a user's signatures, so that the unique index of the default causes no conflicts. */
  async lock(tx: Tx, { tenantId, userId }: RequestContext): Promise<void> {
    await tx.query(lock, [tenantId, userId]);
  }

  async count(tx: Tx, { tenantId, userId }: RequestContext): Promise<number> {
    return rowsOf(tx, Signature).count({ tenant_id: tenantId, user_id: userId });
  }

  async insert(tx: Tx, ctx: RequestContext, values: ColumnValues<Signature>): Promise<Signature> {
    const { tenantId, userId } = ctx;
    if (values.is_default) await this.clearDefault(tx, ctx);
    const times = { created_at: NOW, updated_at: NOW };
    return (await rowsOf(tx, Signature).insert({
      ...values,
      ...times,
      tenant_id: tenantId,
      user_id: userId,
    })) as Signature;
  }

  async update(tx: Tx, ctx: RequestContext, id: string, values: ColumnValues<Signature>): Promise<Signature> {
    const { tenantId, userId } = ctx;
    if (values.is_default) await this.clearDefault(tx, ctx);
    const changes = { ...values, updated_at: NOW };
    return (
      await rowsOf(tx, Signature).update({ tenant_id: tenantId, user_id: userId, id }, changes)
    )[0] as Signature;
  }

  async delete(tx: Tx, { tenantId, userId }: RequestContext, id: string): Promise<Signature | null> {
    return (await rowsOf(tx, Signature).delete({ tenant_id: tenantId, user_id: userId, id }))[0] ?? null;
  }

  private async clearDefault(tx: Tx, { tenantId, userId }: RequestContext): Promise<void> {
    const values = { is_default: false, updated_at: NOW };
    await rowsOf(tx, Signature).update({ tenant_id: tenantId, user_id: userId, is_default: true }, values);
  }
}
