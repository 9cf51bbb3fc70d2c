import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { Stored } from './preference-spec.js';
import type { PreferenceKind } from './preferences.js';

interface PreferencesRow {
  data: Stored;
  rev: number;
}

const NONE: PreferencesRow = { data: {}, rev: 0 };

const read = workspace.statement<PreferencesRow>(
  'settings.read_preferences',
  `SELECT data, rev FROM preferences WHERE tenant_id = $1 AND user_id = $2 AND kind = $3`,
);

// The row may not exist yet, so the row of the member is locked.
const lock = workspace.statement<never>(
  'settings.lock_preferences',
  `SELECT FROM member_profiles WHERE tenant_id = $1 AND user_id = $2 FOR NO KEY UPDATE`,
);

const write = workspace.statement<never>(
  'settings.write_preferences',
  `INSERT INTO preferences AS stored (tenant_id, user_id, kind, data, rev) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (tenant_id, user_id, kind) DO UPDATE SET data = excluded.data, rev = excluded.rev, updated_at = now()`,
);

/** SQL of preferences. */
@Injectable()
export class PreferencesRepository {
  constructor(private readonly db: Db) {}

  /** Returns revision 0 and no data without stored preferences. */
  async read(ctx: RequestContext, kind: PreferenceKind): Promise<PreferencesRow> {
    return (await this.db.query(read, [ctx.tenantId, ctx.userId, kind]))[0] ?? NONE;
  }

  /** Reads the preferences and locks the settings of the member until the end of the transaction. */
  async lock(tx: Tx, ctx: RequestContext, kind: PreferenceKind): Promise<PreferencesRow> {
    await tx.query(lock, [ctx.tenantId, ctx.userId]);
    return (await tx.query(read, [ctx.tenantId, ctx.userId, kind]))[0] ?? NONE;
  }

  async write(tx: Tx, ctx: RequestContext, kind: PreferenceKind, row: PreferencesRow): Promise<void> {
    await tx.query(write, [ctx.tenantId, ctx.userId, kind, row.data, row.rev]);
  }
}
