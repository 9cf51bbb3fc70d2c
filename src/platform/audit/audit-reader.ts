import { Injectable } from '@nestjs/common';
import { BYTE_ORDER_MARK, csvLine } from '../../lib/csv/index.js';
import { boundedPage, jsonBytes, PAGE_BYTES, textBytes } from '../bounded-pages/page-bytes.js';
import { Db } from '../database/db.js';
import { either, StatementVariants } from '../database/statement.js';
import { type AuditLogEntry, firstIdOf, NO_TENANT } from './audit.js';

/** An audit event with the field names of the API. */
export type AuditEvent = Omit<AuditLogEntry, 'tenant_id'>;

/** An event of a page; beyond the bytes of the page it has only its id. */
export type ListedAuditEvent = AuditEvent & { fits: boolean };

export interface AuditFilter {
  actorId?: string;
  action?: string;
  objectKind?: string;
  objectId?: string;
  since?: Date;
  until?: Date;
}

const CONTENT =
  'occurred_at, origin, actor_id, session_id, request_id, ip, action, object_kind, object_id, data';
const COLUMNS = `id, ${CONTENT}`;

/** Filters by a value, and their columns. */
const FILTERS = [
  ['actorId', 'actor_id'],
  ['action', 'action'],
  ['objectKind', 'object_kind'],
  ['objectId', 'object_id'],
] as const;

/** Each filter has an index that is ordered by id. */
const PAGES = new StatementVariants<ListedAuditEvent>('audit.page', either);

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

const pageText = (where: string): string =>
  boundedPage({
    keys: `SELECT id, 512 + ${textBytes('action', 'object_kind', 'object_id', 'request_id')} + ${jsonBytes('data')} AS bytes
             FROM audit_log WHERE tenant_id = $1 AND id < $2 AND id >= $3${where} ORDER BY id DESC LIMIT $4`,
    order: 'sized.id DESC',
    limit: '$4',
    bytes: '$5',
    columns: 'sized.id, sized.fits, shown.*',
    shown: {
      columns: CONTENT,
      from: 'audit_log event WHERE event.tenant_id = $1 AND event.id = sized.id',
    },
  });

/** Reads the audit log, newest first. */
@Injectable()
export class AuditReader {
  constructor(private readonly db: Db) {}

  /**
   * @param tenantId null: events without a workspace
   * Events beyond the bytes of the page come last, without content.
   * @param before id of the last entry of the previous page
   */
  async page(
    tenantId: string | null,
    filter: AuditFilter,
    limit: number,
    before?: string,
  ): Promise<ListedAuditEvent[]> {
    const given = FILTERS.filter(([name]) => filter[name] !== undefined);
    const until = filter.until ? firstIdOf(filter.until) : LAST_ID;
    const values = [
      tenantId ?? NO_TENANT,
      before !== undefined && before < until ? before : until,
      firstIdOf(filter.since ?? new Date(0)),
      limit,
      PAGE_BYTES,
      ...given.map(([name]) => filter[name]),
    ];
    const where = given.map(([, column], n) => ` AND ${column} = $${n + 6}`).join('');
    const statement = PAGES.of(where, () => pageText(where), { onReplica: true });
    return this.db.query(statement, values);
  }

  /** All events that match, in pages. @param size events of a page at most */
  async *pages(
    tenantId: string | null,
    filter: AuditFilter,
    size: number,
  ): AsyncGenerator<AuditEvent[], void, undefined> {
    for (let before: string | undefined; ;) {
      const page = await this.page(tenantId, filter, size, before);
      const events = page.filter(({ fits }) => fits).map(({ fits: _fits, ...event }) => event);
      yield events;
      if (page.length < size && events.length === page.length) return;
      before = events.at(-1)?.id;
    }
  }

  /**
   * Recent events by and about a user.
   * @param tenantId the workspace, in addition to events of the account; null: account events only
   */
  async listConcerning(tenantId: string | null, userId: string, limit: number): Promise<AuditEvent[]> {
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

const CSV_COLUMNS = [
  'id',
  'occurred_at',
  'origin',
  'actor_id',
  'session_id',
  'request_id',
  'ip',
  'action',
  'object_kind',
  'object_id',
  'data',
] as const satisfies readonly (keyof AuditEvent)[];

/** The first line of a CSV file of audit events, with the byte order mark of UTF-8. */
export const auditCsvHeader = (): string => BYTE_ORDER_MARK + csvLine(CSV_COLUMNS);

/** The line of an event; `data` is JSON. */
export const auditCsvLine = (event: AuditEvent): string =>
  csvLine([
    event.id,
    event.occurred_at.toISOString(),
    ...CSV_COLUMNS.slice(2, -1).map((column) => event[column] as string | null),
    JSON.stringify(event.data),
  ]);
