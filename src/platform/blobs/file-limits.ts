import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { NIL } from 'uuid';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Config } from '../../config/config.js';
import { Db } from '../database/db.js';
import { workspace } from '../database/statement.js';
import type { Reader, Tx } from '../database/tx.js';
import type { ApiError } from '../http/errors.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { ItemFailures } from '../jobs/sweep.js';
import { BlobErrors } from './file-errors.dto.js';

@Entity('file_usage')
export class FileUsageRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('bigint', { default: 0 }) bytes!: string;
  @Column('int', { default: 0 }) files!: number;
  @Column('bigint', { nullable: true }) limit_bytes!: string | null;
  @Column('bigint', { nullable: true }) user_limit_bytes!: string | null;
}

@Entity('user_file_usage')
@Index('user_file_usage_bytes', ['tenant_id', 'bytes', 'user_id'])
export class UserFileUsageRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('bigint', { default: 0 }) bytes!: string;
  @Column('int', { default: 0 }) files!: number;
}

/** Limits of a workspace, bytes. Null means the default of the installation; 0 means none. */
export interface OwnLimits {
  limit_bytes: number | null;
  user_limit_bytes: number | null;
}

/** Kept files of a workspace and of one user, with the limits of the workspace. */
export interface UsageRow extends OwnLimits, Pick<FileUsageRow, 'files'> {
  bytes: number;
  own_bytes: number;
  own_files: number;
}

/** Kept files of a user. */
export interface UserUsageRow extends Pick<UserFileUsageRow, 'user_id' | 'files'> {
  bytes: number;
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

const readWorkspaces = workspace.statement<Pick<FileUsageRow, 'tenant_id'>>(
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

  /** Null means that the workspace has neither files nor limits of its own. @param userId null: no user */
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

/** Bytes of the unit of the settings. */
export const MIB = 1024 * 1024;
/** Workspaces of one read of the recount. */
const BATCH = 100;

/** Kept files and limits that apply, bytes. A limit of null or 0: none; 0 is set for the workspace. */
export interface FileUsage {
  bytes: number;
  files: number;
  own_bytes: number;
  own_files: number;
  limit_bytes: number | null;
  user_limit_bytes: number | null;
}

/**
 * Limits for the files of a workspace and of each user. The transaction that keeps a file counts it under the lock of the counters and
 * checks the limits afterwards, so parallel uploads never exceed them.
 */
@Injectable()
export class FileLimits implements OnModuleInit {
  private readonly logger = new Logger(FileLimits.name);

  constructor(
    private readonly usages: FileUsageRepository,
    private readonly config: Config,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'recount-files',
      everySeconds: 86_400,
      run: () => this.recount(),
    });
  }

  /** Usage and limits of a workspace and of one user. @param userId null: no user */
  async usage(tenantId: string, userId: string | null, reader: Reader = this.db): Promise<FileUsage> {
    const row = await this.usages.read(reader, tenantId, userId);
    const { bytes = 0, files = 0, own_bytes = 0, own_files = 0 } = row ?? {};
    return { bytes, files, own_bytes, own_files, ...this.applied(row) };
  }

  /** The limits that apply to a workspace. @param own those of the workspace itself; null: it has none */
  private applied(own: OwnLimits | null): Pick<FileUsage, 'limit_bytes' | 'user_limit_bytes'> {
    const { FILES_LIMIT_MB, FILES_USER_LIMIT_MB } = this.config;
    return {
      limit_bytes: own?.limit_bytes ?? (FILES_LIMIT_MB * MIB || null),
      user_limit_bytes: own?.user_limit_bytes ?? (FILES_USER_LIMIT_MB * MIB || null),
    };
  }

  /**
   * The bytes that a user may still store, and the error for more; null: no limit applies.
   * @throws ApiError 507 `file_limit_reached` when nothing is left
   */
  async readRemaining(
    tenantId: string,
    userId: string | null,
  ): Promise<{ bytes: number; reached: ApiError } | null> {
    const all = limitsOf(await this.usage(tenantId, userId), userId);
    const [nearest] = all.toSorted((a, b) => a.left - b.left);
    if (!nearest) return null;
    const reached = limitReached(nearest);
    if (nearest.left <= 0) throw reached;
    return { bytes: nearest.left, reached };
  }

  /**
   * Checks the limits after this transaction has kept a file of the user.
   * @throws ApiError 507 `file_limit_reached`; the transaction must end without its changes
   */
  async assertWithin(tx: Tx, tenantId: string, userId: string | null): Promise<void> {
    const usage = await this.usage(tenantId, userId, tx);
    const exceeded = limitsOf(usage, userId).find(({ left }) => left < 0);
    if (exceeded) throw limitReached(exceeded);
  }

  /**
   * Locks and changes the limits of a workspace. Omitted ones stay. Files above a new limit stay; uploads are rejected.
   * @returns the own limits before and after
   */
  async change(
    tx: Tx,
    tenantId: string,
    limits: Partial<OwnLimits>,
  ): Promise<{ before: OwnLimits; after: OwnLimits }> {
    const before = await this.usages.lock(tx, tenantId);
    const after = {
      limit_bytes: limits.limit_bytes === undefined ? before.limit_bytes : limits.limit_bytes,
      user_limit_bytes:
        limits.user_limit_bytes === undefined ? before.user_limit_bytes : limits.user_limit_bytes,
    };
    await this.usages.setLimits(tx, tenantId, after);
    return { before, after };
  }

  /** Users with files, most bytes first. */
  users(
    tenantId: string,
    after: readonly [bytes: number, userId: string] | undefined,
    limit: number,
  ): Promise<UserUsageRow[]> {
    return this.usages.users(tenantId, after, limit);
  }

  /**
   * Counts the files of all workspaces again: a restored or edited database may have other counters.
   * @throws AggregateError after the last workspace, when some failed
   */
  async recount(): Promise<void> {
    const failures = new ItemFailures(this.logger, 'the recount of the files of a workspace');
    for (let after: string = NIL; ;) {
      const ids = await this.usages.workspaces(after, BATCH);
      for (const tenantId of ids) await failures.guard({ tenantId }, () => this.recountOne(tenantId));
      if (ids.length < BATCH) break;
      after = ids.at(-1) as string;
    }
    failures.report();
  }

  private async recountOne(tenantId: string): Promise<void> {
    if (await this.usages.recount(tenantId))
      this.logger.warn({ tenantId }, 'the counters of files were wrong and are corrected');
  }
}

interface Limit {
  scope: 'user' | 'workspace';
  used: number;
  limit: number;
  left: number;
}

/** The limits that apply. */
function limitsOf({ bytes, own_bytes, limit_bytes, user_limit_bytes }: FileUsage, userId: string | null) {
  const of = (scope: Limit['scope'], used: number, limit: number | null): Limit[] =>
    limit ? [{ scope, used, limit, left: limit - used }] : [];
  return [
    ...of('workspace', bytes, limit_bytes),
    ...(userId === null ? [] : of('user', own_bytes, user_limit_bytes)),
  ];
}

const limitReached = ({ scope, used: used_bytes, limit: limit_bytes }: Limit): ApiError =>
  BlobErrors.fileLimitReached.with({ body: { scope, used_bytes, limit_bytes } });
