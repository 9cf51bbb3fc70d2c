import { QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';

/** Too many requests wait for a connection. The response is 503 with Retry-After. */
export class DatabaseBusyError extends Error {
  constructor() {
    super('too many requests are waiting for the database');
    this.name = 'DatabaseBusyError';
  }
}

/** The database of a workspace does not respond or is unknown. The response is 503 with Retry-After; other cells are unaffected. */
export class CellUnavailableError extends Error {
  constructor(name: string, options?: ErrorOptions) {
    super(`the cell ${name} is unavailable`, options);
    this.name = 'CellUnavailableError';
  }
}

/** SQLSTATE of a PostgreSQL error, or the system's code (`ECONNREFUSED`) of a connection error. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown; driverError?: { code?: unknown } } | null)?.code;
  const driver = (error as { driverError?: { code?: unknown } } | null)?.driverError?.code;
  return typeof code === 'string' ? code : typeof driver === 'string' ? driver : undefined;
}

/** Rows that a transaction relies on have changed before it locked them. `Db.tx` retries the transaction. */
export class ConcurrentChangeError extends Error {
  /** serialization_failure */
  readonly code = '40001';
}

/**
 * serialization_failure, deadlock_detected, or a function, view or type that an upgrade has replaced between the planning and the
 * execution of the statement: the transaction has had no effect and can be retried.
 */
export function isRetryable(error: unknown): boolean {
  const code = errorCode(error);
  return code === '40001' || code === '40P01' || isReplaced(error, code);
}

/** Messages of PostgreSQL about an object that was replaced. Their codes (internal_error, undefined_object) have other causes too. */
const REPLACED =
  /^(?:cache lookup failed for|could not open relation with OID|type with OID \d+ does not|tuple concurrently)/;

const isReplaced = (error: unknown, code: string | undefined): boolean =>
  (code === 'XX000' || code === '42704') && REPLACED.test((error as Error).message);

const CONNECTION = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
  '57P01',
  '57P02',
  '57P03',
  '53300',
]);

/** pg received no response in time (`query_timeout`): the connection is unusable, the result of the statement unknown. */
export const isResponseTimeout = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('Query read timeout');

/** read_only_sql_transaction: after a fail-over, the server of this connection is a replica. */
export const isReadOnly = (error: unknown): boolean => errorCode(error) === '25006';

/** TypeORM releases the connection of a transaction when it is lost, and then rejects COMMIT and further queries with these errors. */
const isReleased = (error: unknown): boolean =>
  error instanceof QueryRunnerAlreadyReleasedError ||
  error instanceof QueryRunnerProviderAlreadyReleasedError;

/** The database is unreachable, does not respond, is starting or is shutting down. */
export function isConnectionError(error: unknown): boolean {
  if (error instanceof CellUnavailableError || isReleased(error)) return true;
  // PostgreSQL has ended the session, or accepts none for this database.
  if ((error as { severity?: unknown } | null)?.severity === 'FATAL') return true;
  if (isResponseTimeout(error) || isReadOnly(error)) return true;
  const code = errorCode(error);
  if (code !== undefined && (CONNECTION.has(code) || code.startsWith('08'))) return true;
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|timeout expired|client has encountered a connection error/i.test(
      error.message,
    )
  );
}

/** Classes of SQLSTATE of a plan that an upgrade has made invalid. The connection would keep the plan. */
const INVALID_PLAN = /^(?:0A|26|42|XX)/;

/** PostgreSQL has rejected the statement: it has had no effect. */
export const isRejected = (error: unknown): boolean =>
  (error as { severity?: unknown } | null)?.severity === 'ERROR';

/**
 * Whether a failed transaction may have committed: COMMIT was sent, and PostgreSQL did not reject it. Its response was lost, then.
 * @param isSent whether COMMIT was sent before the failure
 */
export const mayHaveCommitted = (isSent: boolean, error: unknown): boolean => isSent && !isRejected(error);

/** Whether the connection of a failed statement is usable: PostgreSQL rejected a value or ended the statement at its time limit. */
export const leavesConnection = (error: unknown): boolean =>
  isRejected(error) && !isReadOnly(error) && !INVALID_PLAN.test(errorCode(error) ?? 'XX');

/** lock_not_available: another session held the lock for longer than the limit. */
export const isLockTimeout = (error: unknown): boolean => errorCode(error) === '55P03';

/** query_canceled: the statement has exceeded its time limit. */
export const isStatementTimeout = (error: unknown): boolean => errorCode(error) === '57014';

/** lock_not_available and query_canceled: the row is contended or the server is overloaded. */
export const isTimeout = (error: unknown): boolean => isLockTimeout(error) || isStatementTimeout(error);

/** Text PostgreSQL cannot store: U+0000, invalid UTF-8, \u0000 in jsonb. */
export function isUnstorableText(error: unknown): boolean {
  const code = errorCode(error);
  return code === '22021' || code === '22P05';
}

/** disk_full of PostgreSQL; no space and quota exceeded of the operating system. */
const CODES = new Set(['53100', 'ENOSPC', 'EDQUOT']);

/** True when the error, or an error that caused it, reports a full disk. */
export const isStorageFull = (error: unknown): boolean => fullStorage(error) !== null;

/** The disk that an error, or an error that caused it, reports as full: of the database or of files. Null means that it reports none. */
export function fullStorage(error: unknown): 'database' | 'files' | null {
  for (let depth = 0, current = error; current instanceof Error && depth < 5; depth += 1) {
    const code = errorCode(current) ?? '';
    if (CODES.has(code)) return code === '53100' ? 'database' : 'files';
    current = current.cause;
  }
  return null;
}
