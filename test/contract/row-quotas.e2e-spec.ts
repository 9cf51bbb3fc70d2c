import { readFileSync } from 'node:fs';
import { QUOTAS } from '../../src/platform/quotas/quotas.js';
import { ROW_BOUNDS } from '../support/contract/row-quotas.ts';

interface Operation {
  operationId: string;
  responses: Record<string, unknown>;
}

const { paths } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};
const creations = Object.values(paths)
  .flatMap(({ post }) => post ?? [])
  .filter(({ responses }) => '201' in responses)
  .map(({ operationId }) => operationId);

test('each operation that creates rows has a quota or a reason', () => {
  expect(Object.keys(ROW_BOUNDS).toSorted()).toEqual(creations.toSorted());
});

test('each quota limits an operation', () => {
  const used = Object.values(ROW_BOUNDS).flatMap((bound) => ('quota' in bound ? bound.quota : []));
  const all = Object.entries(QUOTAS).flatMap(([scope, kinds]) =>
    Object.keys(kinds).map((kind) => `${scope}.${kind}`),
  );
  expect([...new Set(used)].toSorted()).toEqual(all.toSorted());
});
