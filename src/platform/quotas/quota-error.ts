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

/**
 * For `catch` of a statement whose stored function calls `row_quota_exceeded`.
 * @throws ApiError 409 `quota_exceeded`; any other error unchanged
 */
export function throwQuotaError(error: unknown): never {
  throw errorCode(error) === 'WB002' ? quotaExceeded((error as { detail: QuotaName }).detail) : error;
}
