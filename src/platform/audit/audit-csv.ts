import { BYTE_ORDER_MARK, csvLine } from '../../lib/csv/index.js';
import type { AuditEvent } from './audit-reader.js';

const COLUMNS = [
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
export const auditCsvHeader = (): string => BYTE_ORDER_MARK + csvLine(COLUMNS);

/** The line of an event; `data` is JSON. */
export const auditCsvLine = (event: AuditEvent): string =>
  csvLine([
    event.id,
    event.occurred_at.toISOString(),
    ...COLUMNS.slice(2, -1).map((column) => event[column] as string | null),
    JSON.stringify(event.data),
  ]);
