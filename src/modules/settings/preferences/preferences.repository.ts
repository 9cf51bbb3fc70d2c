import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Preferences } from '../settings.entity.js';
import type { Stored } from './preference-spec.js';
import type { PreferenceKind } from './preferences.js';

interface PreferencesRow {
  data: Stored;
  rev: number;
}

const NONE: PreferencesRow = { data: {}, rev: 0 };

// The row may not exist yet, so the row of the member is locked.
const lock = workspace.statement<never>(
  'settings.lock_preferences',
  `SELECT FROM member_profiles WHERE tenant_id = $1 AND user_id = $2 FOR NO KEY UPDATE`,
);

/** Reads and writes preferences. */
@Injectable()
export class PreferencesRepository {
  constructor(private readonly db: Db) {}

  /** Returns revision 0 and no data without stored preferences. */
  async read(
    { tenantId, userId }: RequestContext,
    kind: PreferenceKind,
    reader: Reader = this.db,
  ): Promise<PreferencesRow> {
    return (await rowsOf(reader, Preferences).one({ tenant_id: tenantId, user_id: userId, kind })) ?? NONE;
  }

  /** Reads the preferences and locks the settings of the member until the end of the transaction. */
  async lock(tx: Tx, ctx: RequestContext, kind: PreferenceKind): Promise<PreferencesRow> {
    await tx.query(lock, [ctx.tenantId, ctx.userId]);
    return this.read(ctx, kind, tx);
  }

  async write(tx: Tx, ctx: RequestContext, kind: PreferenceKind, row: PreferencesRow): Promise<void> {
    const { tenantId, userId } = ctx;
    const { data, rev } = row;
    const values = {
      tenant_id: tenantId,
      user_id: userId,
      kind,
      data: data as object,
      rev,
      updated_at: () => 'now()',
    };
    await rowsOf(tx, Preferences).store(['tenant_id', 'user_id', 'kind'], values);
  }
}
