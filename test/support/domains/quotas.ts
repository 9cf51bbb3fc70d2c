import { QUOTAS, type QuotaName } from '../../../src/platform/quotas/quotas.js';
import type { TestApp } from '../app.ts';
import type { ApiResponse } from '../network/client.ts';

/** Lowers the limits that stored functions read, so that a test reaches them with few rows. Error bodies show those of `QUOTAS`. */
export async function lowerQuotas(app: TestApp, limits: { [name in QuotaName]?: number }): Promise<void> {
  const cases = Object.entries(limits).map(([name, limit]) => `WHEN '${name}' THEN ${limit}`);
  await app.sql(`CREATE OR REPLACE FUNCTION row_quota(p_quota text) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT CASE p_quota ${cases.join(' ')} ELSE 1000000 END $$`);
}

/** Expects the rejection of a creation. */
export function expectFull({ status, body }: ApiResponse, name: QuotaName): void {
  const [scope, quota] = name.split('.') as ['user' | 'item', string];
  const limit = (QUOTAS[scope] as Record<string, number>)[quota];
  expect({ status, ...body }).toMatchObject({ status: 409, error: 'quota_exceeded', quota, scope, limit });
}
