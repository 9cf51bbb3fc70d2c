import { Injectable, type OnModuleInit } from '@nestjs/common';
import { NIL, v7 as uuidv7 } from 'uuid';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Config } from '../../config/config.js';
import { shortenText } from '../../lib/text/index.js';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { deletion, type Sweep, sweep } from '../jobs/sweep.js';

@Entity('audit_log')
@Index('audit_log_actor', ['tenant_id', 'actor_id', 'id'])
@Index('audit_log_action', ['tenant_id', 'action', 'id'])
@Index('audit_log_object', ['tenant_id', 'object_kind', 'object_id', 'id'])
export class AuditLogEntry {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('timestamptz') occurred_at!: Date;
  @Column('text') origin!: 'api' | 'cli' | 'job';
  @Column('uuid', { nullable: true }) actor_id!: string | null;
  @Column('uuid', { nullable: true }) session_id!: string | null;
  @Column('text', { nullable: true }) request_id!: string | null;
  @Column('text', { nullable: true }) ip!: string | null;
  @Column('text') action!: string;
  @Column('text') object_kind!: string;
  @Column('text', { nullable: true }) object_id!: string | null;
  @Column('jsonb') data!: Record<string, unknown>;
}

const MAX_BYTES = 8 * 1024;
const MAX_TEXT = 500;
const MAX_ITEMS = 50;
const MAX_DEPTH = 4;
/** Names of members whose values are never stored. */
const SECRET = /passw|secret|token|otp|recovery|credential|private|^code$|_hash$|^hash$/i;

/**
 * Bounds the data of an audit entry: strings of 500 characters, lists of 50, four levels, 8 KiB in total. Redacts members
 * with names of secrets. Never throws, so that the audited change does not fail.
 */
export function boundedData(data: Record<string, unknown>): Record<string, unknown> {
  const kept = bounded(data, 0) as Record<string, unknown>;
  return Buffer.byteLength(JSON.stringify(kept)) <= MAX_BYTES ? kept : { omitted: Object.keys(kept) };
}

/**
 * Returns `{ before, after }` of the members that an update changes.
 * @param after undefined members stay unchanged
 */
export function changes(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): { before: Record<string, unknown>; after: Record<string, unknown> } {
  const differs = (key: string) =>
    after[key] !== undefined && JSON.stringify(before[key] ?? null) !== JSON.stringify(after[key] ?? null);
  const keys = Object.keys(after).filter(differs);
  const pick = (from: Record<string, unknown>) =>
    Object.fromEntries(keys.map((key) => [key, from[key] ?? null]));
  return { before: pick(before), after: pick(after) };
}

function bounded(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return text(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => bounded(item, depth + 1));
  const members = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(
    members.map(([key, member]) => [text(key), SECRET.test(key) ? '[redacted]' : bounded(member, depth + 1)]),
  );
}

/** Makes a string storable as jsonb. */
function text(value: string): string {
  return shortenText(value.toWellFormed().replaceAll('\0', '\ufffd'), MAX_TEXT);
}

/** Workspace id of events without a workspace, such as account events. */
export const NO_TENANT: string = NIL;

/** Maximum number of entries that one statement deletes. */
const BATCH = 5_000;

/**
 * The actor of an event: a `RequestContext`, or one created by sign-in, command line and jobs.
 */
export interface AuditActor {
  /** Null means no workspace. */
  readonly tenantId: string | null;
  /** Null means the operator, the service, or a visitor. */
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
