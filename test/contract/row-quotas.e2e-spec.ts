import { readFileSync } from 'node:fs';
import { QUOTAS } from '../../src/platform/quotas/quotas.js';
import { BEYOND_OPERATIONS, ROW_BOUNDS } from '../support/contract/row-quotas.ts';

interface Operation {
  operationId: string;
  responses?: Record<string, unknown>;
}

const { paths } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.values(paths).flatMap((methods) =>
  Object.entries(methods).map(([method, operation]) => ({ method, ...operation })),
);

test('each operation that creates rows has a quota or a reason', () => {
  const creations = operations.filter(
    ({ method, responses = {} }) => method === 'post' && '201' in responses,
  );
  const missing = creations
    .map(({ operationId }) => operationId)
    .filter((id) => !Object.hasOwn(ROW_BOUNDS, id));
  expect(missing).toEqual([]);
  const ids = new Set(operations.map(({ operationId }) => operationId));
  expect(Object.keys(ROW_BOUNDS).filter((id) => !ids.has(id))).toEqual([]);
});

test('each quota limits an operation, or rows that no operation creates', () => {
  const used = Object.values(ROW_BOUNDS).flatMap((bound) => ('quota' in bound ? bound.quota : []));
  const all = Object.entries(QUOTAS).flatMap(([scope, kinds]) =>
    Object.keys(kinds).map((kind) => `${scope}.${kind}`),
  );
  expect([...new Set([...used, ...BEYOND_OPERATIONS])].toSorted()).toEqual(all.toSorted());
});
