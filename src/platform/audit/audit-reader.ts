import { Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';
import { StatementVariants } from '../database/statement-variants.js';
import { firstIdOf, NO_TENANT } from './audit.js';

/** An audit event with the field names of the API. */
export interface AuditEvent {
  id: string;
  occurred_at: Date;
  origin: 'api' | 'cli' | 'job';
  actor_id: string | null;
  session_id: string | null;
  request_id: string | null;
  ip: string | null;
  action: string;
  object_kind: string;
  object_id: string | null;
  data: Record<string, unknown>;
}

export interface AuditFilter {
  actorId?: string;
  action?: string;
  objectKind?: string;
  objectId?: string;
  since?: Date;
  until?: Date;
}

const COLUMNS =
  'id, occurred_at, origin, actor_id, session_id, request_id, ip, action, object_kind, object_id, data';

/** Filters by a value, and their columns. */
const FILTERS = [
  ['actorId', 'actor_id'],
  ['action', 'action'],
  ['objectKind', 'object_kind'],
  ['objectId', 'object_id'],
] as const;

/** Each filter has an index that is ordered by id. */
const PAGES = new StatementVariants<AuditEvent>('audit.page', either);

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

// Events by and about a user.
const concerning = either.statement<AuditEvent>(
  'audit.concerning',
  `SELECT ${COLUMNS} FROM (
     (SELECT * FROM audit_log WHERE tenant_id = $1 AND actor_id = $2 ORDER BY id DESC LIMIT $3)
     UNION
     (SELECT * FROM audit_log WHERE tenant_id = $1 AND object_kind = 'user' AND object_id = $2::uuid::text
       ORDER BY id DESC LIMIT $3)) AS events
    ORDER BY id DESC LIMIT $3`,
);

/** Reads the audit log, newest first. */
@Injectable()
export class AuditReader {
  constructor(private readonly db: Db) {}

  /**
   * @param tenantId null: events without a workspace
   * @param before id of the last entry of the previous page
   */
  async page(
    tenantId: string | null,
    filter: AuditFilter,
    limit: number,
    before?: string,
  ): Promise<AuditEvent[]> {
    const given = FILTERS.filter(([name]) => filter[name] !== undefined);
    const until = filter.until ? firstIdOf(filter.until) : LAST_ID;
    const values = [
      tenantId ?? NO_TENANT,
      before !== undefined && before < until ? before : until,
      firstIdOf(filter.since ?? new Date(0)),
      limit,
      ...given.map(([name]) => filter[name]),
    ];
    const where = given.map(([, column], n) => ` AND ${column} = $${n + 5}`).join('');
    const statement = PAGES.of(
      where,
      () =>
        `SELECT ${COLUMNS} FROM audit_log WHERE tenant_id = $1 AND id < $2 AND id >= $3${where} ORDER BY id DESC LIMIT $4`,
    );
    return this.db.query(statement, values);
  }

  /**
   * Recent events by and about a user.
   * @param tenantId the workspace, in addition to events of the account; null: account events only
   */
  async concerning(tenantId: string | null, userId: string, limit: number): Promise<AuditEvent[]> {
    const scopes = tenantId === null ? [NO_TENANT] : [tenantId, NO_TENANT];
    const events = await Promise.all(
      scopes.map((scope) => this.db.query(concerning, [scope, userId, limit])),
    );
    return events
      .flat()
      .toSorted((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, limit);
  }
}
