import { errorCode } from './database-errors.js';

/** disk_full of PostgreSQL; no space and quota exceeded of the operating system. */
const CODES = new Set(['53100', 'ENOSPC', 'EDQUOT']);

/** True when the error, or an error that caused it, says that a disk is full. */
export function isStorageFull(error: unknown): boolean {
  for (let depth = 0, current = error; current instanceof Error && depth < 5; depth += 1) {
    if (CODES.has(errorCode(current) ?? '')) return true;
    current = current.cause;
  }
  return false;
}
