import { errorCode } from '../database/database-errors.js';
import type { ApiError } from '../http/api-error.js';
import { QuotaErrors } from './quotas.errors.js';
import { limitOf, type QuotaName } from './quotas.js';

/** 409 `quota_exceeded`. */
export function quotaExceeded(name: QuotaName): ApiError {
  const [scope, quota] = name.split('.');
  return QuotaErrors.exceeded.with({ body: { quota, scope, limit: limitOf(name) } });
}

/** @param rows number of rows with the new one. @throws ApiError 409 `quota_exceeded` */
export function assertQuota(name: QuotaName, rows: number): void {
  if (rows > limitOf(name)) throw quotaExceeded(name);
}

/** The error of a statement that a stored function has rejected by `row_quota_exceeded`; undefined for any other error. */
export function quotaErrorOf(error: unknown): ApiError | undefined {
  if (errorCode(error) !== 'WB002') return undefined;
  return quotaExceeded((error as { detail: QuotaName }).detail);
}
