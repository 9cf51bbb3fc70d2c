import { errorCode } from '../database/database-errors.js';
import { workspace } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import type { ApiError } from '../http/errors.js';
import { QuotaErrors } from './quotas.dto.js';
import { limitOf, type QuotaName, type QUOTAS } from './quotas.js';

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

type Kinds = { [scope in keyof typeof QUOTAS]: keyof (typeof QUOTAS)[scope] };

/**
 * The limit of the rows of a user, or of an item that contains them. `take` in the transaction of a creation, before its insert:
 * concurrent creations wait for each other, so that together they do not pass the limit.
 */
export class RowQuota<Scope extends 'user' | 'item'> {
  private readonly lock;
  private readonly count;
  private readonly quota: QuotaName;
  private readonly limit: number;

  /**
   * @param name first part of the names of the module's statements
   * @param rows SQL: FROM and WHERE of the rows, with the workspace as $1 and the user or item as $2; an index finds them
   */
  constructor(scope: Scope, kind: Kinds[Scope] & string, name: string, rows: string) {
    this.quota = `${scope}.${kind}` as QuotaName;
    this.limit = limitOf(this.quota);
    this.lock = workspace.lock(`${name}.lock_${kind}`, `quota ${kind} of`, 2);
    this.count = workspace.statement<{ count: number }>(
      `${name}.count_${kind}`,
      `SELECT count(*)::int AS count FROM (SELECT FROM ${rows} LIMIT $3) counted`,
    );
  }

  /**
   * @param id of the user, or of the item
   * @param added number of rows that the transaction inserts
   * @throws ApiError 409 `quota_exceeded`
   */
  async take(tx: Tx, tenantId: string, id: string, added = 1): Promise<void> {
    await tx.query(this.lock, [tenantId, id]);
    const [row] = await tx.query(this.count, [tenantId, id, this.limit]);
    if ((row?.count ?? 0) + added <= this.limit) return;
    throw quotaExceeded(this.quota);
  }
}
