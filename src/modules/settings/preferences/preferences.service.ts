import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { cutText } from '../../../lib/text/index.js';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Errors, fieldError } from '../../../platform/http/errors.js';
import { jsonObject } from '../../../platform/http/input.pipe.js';
import { SettingsErrors } from '../settings.dto.js';
import { Preferences } from '../settings.schema.js';
import {
  isObject,
  patchPreferences,
  type PreferenceKind,
  PREFERENCES,
  type Stored,
  viewOf,
} from './preferences.js';

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

export interface PreferencesEnvelope {
  preferences: Record<string, unknown>;
  /** Increases with each change; 0 without any change. */
  rev: number;
}

const MAX_REV = 2_147_483_647;

/** Preferences of the caller. */
@Injectable()
export class PreferencesService {
  constructor(
    private readonly preferences: PreferencesRepository,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  async read(ctx: RequestContext, kind: PreferenceKind): Promise<PreferencesEnvelope> {
    const { data, rev } = await this.preferences.read(ctx, kind);
    return { preferences: viewOf(PREFERENCES[kind], data), rev };
  }

  /**
   * Merges a patch into the stored preferences.
   * @param body preferences, or `{ preferences }` as read; with `rev`, the expected revision
   * @throws ApiError 409 `conflict`; 422 for an unknown key or a value of another type
   */
  async merge(ctx: RequestContext, kind: PreferenceKind, body: unknown): Promise<PreferencesEnvelope> {
    const { patch, rev } = readBody(body);
    const spec = PREFERENCES[kind];
    return this.db.tx(async (tx) => {
      const before = await this.preferences.lock(tx, ctx, kind);
      const now = { preferences: viewOf(spec, before.data), rev: before.rev };
      if (rev !== undefined && rev !== before.rev) throw SettingsErrors.conflict.with({ body: { ...now } });
      const { stored, problems } = patchPreferences(spec, before.data, patch);
      if (problems.length > 0) throw Errors.validationFailed.with({ details: problems });
      if (isDeepStrictEqual(viewOf(spec, stored), now.preferences)) return now;
      const after = { data: stored, rev: before.rev + 1 };
      await this.preferences.write(tx, ctx, kind, after);
      await this.audit.record(tx, ctx, {
        action: `preferences.${kind}.updated`,
        objectKind: 'user',
        objectId: ctx.userId,
        data: { changed: patch },
      });
      return { preferences: viewOf(spec, stored), rev: after.rev };
    });
  }
}

function readBody(body: unknown): { patch: Record<string, unknown>; rev: number | undefined } {
  const { rev, ...rest } = jsonObject(body);
  const isRev = Number.isInteger(rev) && (rev as number) >= 0 && (rev as number) <= MAX_REV;
  if (rev !== undefined && !isRev) throw fieldError('rev', 'is_int', 'rev must be the integer that you read');
  const { preferences, ...others } = rest;
  if (preferences === undefined) return { patch: rest, rev: rev as number | undefined };
  if (!isObject(preferences)) throw fieldError('preferences', 'is_object', 'preferences must be an object');
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw fieldError(cutText(unknown, 100), 'unknown_key', 'Only rev is allowed beside preferences.');
  return { patch: preferences, rev: rev as number | undefined };
}
