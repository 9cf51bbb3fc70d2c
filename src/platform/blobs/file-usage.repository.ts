import { Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import { workspace } from '../database/statement.js';
import type { Reader, Tx } from '../database/tx.js';

/** Limits of a workspace, bytes. Null: the default of the installation; 0: none. */
export interface OwnLimits {
  limit_bytes: number | null;
  user_limit_bytes: number | null;
}

/** Kept files of a workspace and of one user, with the limits of the workspace. */
export interface UsageRow extends OwnLimits {
  bytes: number;
  files: number;
  own_bytes: number;
  own_files: number;
}

/** Kept files of a user. */
export interface UserUsageRow {
  user_id: string;
  bytes: number;
  files: number;
}

const NUMBERS = `limit_bytes::float8, user_limit_bytes::float8`;

const readUsage = workspace.statement<UsageRow>(
  'files.usage',
  `SELECT used.bytes::float8, used.files, ${NUMBERS}, coalesce(own.bytes, 0)::float8 AS own_bytes,
          coalesce(own.files, 0) AS own_files
     FROM file_usage used LEFT JOIN user_file_usage own ON own.tenant_id = $1 AND own.user_id = $2
    WHERE used.tenant_id = $1`,
);

const lockLimits = workspace.statement<OwnLimits>(
  'files.lock_limits',
  `INSERT INTO file_usage AS used (tenant_id) VALUES ($1)
   ON CONFLICT (tenant_id) DO UPDATE SET tenant_id = used.tenant_id RETURNING ${NUMBERS}`,
);

const writeLimits = workspace.statement<never>(
  'files.set_limits',
  `UPDATE file_usage SET limit_bytes = $2, user_limit_bytes = $3 WHERE tenant_id = $1`,
);

// Index user_file_usage_bytes, backwards.
const readUsers = workspace.statement<UserUsageRow>(
  'files.users',
  `SELECT user_id, bytes::float8, files FROM user_file_usage
    WHERE tenant_id = $1 AND ($2::bigint IS NULL OR (bytes, user_id) < ($2, $3::uuid))
    ORDER BY bytes DESC, user_id DESC LIMIT $4`,
);

const readWorkspaces = workspace.statement<{ tenant_id: string }>(
  'files.workspaces',
  `SELECT tenant_id FROM file_usage WHERE tenant_id > $1 ORDER BY tenant_id LIMIT $2`,
  { reach: 'cell' },
);

const recountOne = workspace.statement<{ corrected: boolean }>(
  'files.recount',
  `SELECT file_usage_recount($1) AS corrected`,
);

/** Counters of kept files, which `blob_keep` and `blob_release` write, and limits of workspaces. */
@Injectable()
export class FileUsageRepository {
  constructor(private readonly db: Db) {}

  /** Null: the workspace has neither files nor limits of its own. @param userId null: no user */
  async read(reader: Reader, tenantId: string, userId: string | null): Promise<UsageRow | null> {
    return (await reader.query(readUsage, [tenantId, userId]))[0] ?? null;
  }

  async lock(tx: Tx, tenantId: string): Promise<OwnLimits> {
    return (await tx.query(lockLimits, [tenantId]))[0] as OwnLimits;
  }

  async setLimits(tx: Tx, tenantId: string, limits: OwnLimits): Promise<void> {
    await tx.query(writeLimits, [tenantId, limits.limit_bytes, limits.user_limit_bytes]);
  }

  /** Users with files, most bytes first. */
  async users(
    tenantId: string,
    after: readonly [bytes: number, userId: string] | undefined,
    limit: number,
  ): Promise<UserUsageRow[]> {
    return this.db.query(readUsers, [tenantId, after?.[0] ?? null, after?.[1] ?? null, limit]);
  }

  /** Ids of workspaces with files, in order. */
  async workspaces(after: string, limit: number): Promise<string[]> {
    return (await this.db.query(readWorkspaces, [after, limit])).map(({ tenant_id }) => tenant_id);
  }

  /** Counts the files of a workspace again. @returns whether a counter was wrong */
  async recount(tenantId: string): Promise<boolean> {
    const [row] = await this.db.single((tx) => tx.query(recountOne, [tenantId]));
    return row?.corrected ?? false;
  }
}
