import { Injectable, type OnModuleInit } from '@nestjs/common';
import { NIL, v7 as uuidv7 } from 'uuid';
import { Config } from '../../config/config.js';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { deletion, type Sweep, sweep } from '../jobs/sweep.js';
import { boundedData } from './audit-data.js';

/** Workspace id of events without a workspace, such as account events. */
export const NO_TENANT: string = NIL;

/** Maximum number of entries that one statement deletes. */
const BATCH = 5_000;

/**
 * The actor of an event: a `RequestContext`, or one created by sign-in, command line and jobs.
 */
export interface AuditActor {
  /** Null: no workspace. */
  readonly tenantId: string | null;
  /** Null: the operator, the service, or a visitor. */
  readonly userId: string | null;
  readonly sessionId?: string | null;
  readonly requestId?: string | null;
  readonly ip?: string | null;
  /** Default `api`. */
  readonly origin?: 'api' | 'cli' | 'job';
  /** Facts about the actor, which the data of each of its entries contain, e.g. the token of a provisioning client. */
  readonly facts?: Record<string, unknown>;
}

interface AuditEntry {
  /** `<domain>.<object>.<past tense>`, e.g. `rbac.member.added`. */
  action: string;
  /** `user`, `group`, `tenant`, ... Users see events about their own object `user`. */
  objectKind: string;
  objectId?: string | null;
  /** Further facts without secrets, bounded by `boundedData`. */
  data?: Record<string, unknown>;
}

const append = either.statement<never>(
  'audit.append',
  `INSERT INTO audit_log (tenant_id, id, occurred_at, origin, actor_id, session_id, request_id, ip,
                          action, object_kind, object_id, data)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
);

const forgetOld: Sweep = either.statement(
  'audit.forget_old',
  deletion('audit_log', 'occurred_at < now() - make_interval(days => $2)'),
  { reach: 'cell' },
);

/** The operator at the command line, in a workspace (null: on an account). */
export const operator = (tenantId: string | null): AuditActor => ({ tenantId, userId: null, origin: 'cli' });

/** Writes the audit log and deletes old entries. `AuditReader` reads it. */
@Injectable()
export class Audit implements OnModuleInit {
  constructor(
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    const run = () => sweep(this.db, forgetOld, BATCH, undefined, [this.config.AUDIT_RETENTION_DAYS]);
    this.jobs.register({ name: 'forget-old-audit-log', everySeconds: 3600, run });
  }

  /** Adds an entry in the transaction of its cause, so that both commit or neither. */
  async record(tx: Pick<Tx, 'query'>, actor: AuditActor, entry: AuditEntry): Promise<void> {
    const id = uuidv7();
    await tx.query(append, [
      actor.tenantId ?? NO_TENANT,
      id,
      timeOfId(id),
      actor.origin ?? 'api',
      actor.userId,
      actor.sessionId ?? null,
      actor.requestId ?? null,
      actor.ip ?? null,
      entry.action,
      entry.objectKind,
      entry.objectId ?? null,
      boundedData({ ...entry.data, ...actor.facts }),
    ]);
  }
}

/** The creation time of a UUIDv7 (RFC 9562, section 5.7). */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** The lowest UUIDv7 of a time: later ids are higher. */
export function firstIdOf(time: Date): string {
  const ms = Math.min(Math.max(0, time.getTime()), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}-0000-0000-000000000000`;
}
