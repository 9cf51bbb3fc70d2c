import { errorCode } from './database-errors.js';

/** disk_full of PostgreSQL; no space and quota exceeded of the operating system. */
const CODES = new Set(['53100', 'ENOSPC', 'EDQUOT']);

/** True when the error, or an error that caused it, reports a full disk. */
export const isStorageFull = (error: unknown): boolean => fullStorage(error) !== null;

/** The disk that an error, or an error that caused it, reports as full: of the database or of files. Null: none. */
export function fullStorage(error: unknown): 'database' | 'files' | null {
  for (let depth = 0, current = error; current instanceof Error && depth < 5; depth += 1) {
    const code = errorCode(current) ?? '';
    if (CODES.has(code)) return code === '53100' ? 'database' : 'files';
    current = current.cause;
  }
  return null;
}
