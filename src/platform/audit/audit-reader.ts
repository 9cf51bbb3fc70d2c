import { Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';
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

/** A statement with only the given filters. Each filter has an index that is ordered by id. */
function pageOf(filters: readonly Condition[]) {
  const given = CONDITIONS.filter((condition) => filters.includes(condition));
  const where = given.map((condition, n) => ` AND ${condition} $${n + 5}`).join('');
  const mark = CONDITIONS.map((condition) => (filters.includes(condition) ? 1 : 0)).join('');
  return either.statement<AuditEvent>(
    `audit.page_${mark}`,
    `SELECT ${COLUMNS} FROM audit_log
      WHERE tenant_id = $1 AND id < $2 AND id >= $3${where} ORDER BY id DESC LIMIT $4`,
  );
}

const CONDITIONS = ['actor_id =', 'action =', 'object_kind =', 'object_id ='] as const;
type Condition = (typeof CONDITIONS)[number];

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
    const wanted = new Map<Condition, string | undefined>([
      ['actor_id =', filter.actorId],
      ['action =', filter.action],
      ['object_kind =', filter.objectKind],
      ['object_id =', filter.objectId],
    ]);
    const given = CONDITIONS.filter((condition) => wanted.get(condition) !== undefined);
    const until = filter.until ? firstIdOf(filter.until) : LAST_ID;
    const values = [
      tenantId ?? NO_TENANT,
      before !== undefined && before < until ? before : until,
      firstIdOf(filter.since ?? new Date(0)),
      limit,
      ...given.map((condition) => wanted.get(condition)),
    ];
    return this.db.query(pageOf(given), values);
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
