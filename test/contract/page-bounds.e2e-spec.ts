import { readFileSync } from 'node:fs';
import { HOLIDAY_TYPES } from '../../src/modules/holidays/catalogue/catalogue-file.js';
import { HolidayCatalogue } from '../../src/modules/holidays/catalogue/holiday-catalogue.js';
import { MAX_SUBSCRIPTIONS } from '../../src/modules/holidays/holidays.dto.js';
import { PAGE_BYTES } from '../../src/platform/bounded-pages/page-bytes.js';
import { PAGE_BOUNDS, type SmallRows, UNPAGED_LISTS } from '../support/contract/page-bounds.ts';
import { RowBytes, type Schema } from '../support/contract/row-bytes.ts';

interface Response {
  $ref?: string;
  content?: Record<string, { schema?: Schema }>;
}
interface Parameter {
  $ref?: string;
  name?: string;
  schema?: { maximum?: number };
}
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  responses: Record<string, Response>;
}

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    parameters: Record<string, Parameter>;
  };
};
const { schemas, responses, parameters } = document.components;
const sizes = new RowBytes(schemas);
const last = (ref: string): string => ref.split('/').at(-1) as string;

const schemaOf = ({ responses: { 200: found } }: Operation): Schema | undefined => {
  const response = found?.$ref ? responses[last(found.$ref)] : found;
  return response?.content?.['application/json']?.schema;
};

const POSITIONS = new Set(['next', 'has_more', 'more']);
const membersOf = (operation: Operation): Record<string, Schema> => {
  const schema = operation.responses && schemaOf(operation);
  return schema ? sizes.properties(schema) : {};
};

/** Operations whose response is a page: it has a position that the next request continues. */
const pages = Object.values(document.paths)
  .flatMap((operations) => Object.values(operations))
  .filter((operation) => Object.keys(membersOf(operation)).some((name) => POSITIONS.has(name)));

/** The most bytes of the lists of a page. */
function pageBytes(operation: Operation, { limits, rows }: SmallRows): number {
  const named = (operation.parameters ?? []).map((one) =>
    one.$ref ? (parameters[last(one.$ref)] as Parameter) : one,
  );
  const most = rows ?? named.find(({ name }) => name === 'limit')?.schema?.maximum;
  if (most === undefined) throw new Error(`${operation.operationId} has no greatest number of rows`);
  const lists = Object.values(sizes.properties(schemaOf(operation) as Schema)).flatMap((property) => {
    const { items } = sizes.resolved(property);
    return items ? [most * (1 + sizes.of(items, limits))] : [];
  });
  return lists.reduce((sum, bytes) => sum + bytes, 0);
}

test('each list of the API states what bounds the bytes of its pages', () => {
  expect(Object.keys(PAGE_BOUNDS).toSorted()).toEqual(pages.map(({ operationId }) => operationId).toSorted());
});

test('each other response with a list states what bounds it', () => {
  const unpaged = Object.values(document.paths)
    .flatMap(({ get }) => get ?? [])
    .filter((operation) => !pages.includes(operation))
    .filter((operation) =>
      Object.values(membersOf(operation)).some((member) => sizes.resolved(member).items),
    );
  expect(Object.keys(UNPAGED_LISTS).toSorted()).toEqual(
    unpaged.map(({ operationId }) => operationId).toSorted(),
  );
});

test.each(
  Object.entries(PAGE_BOUNDS).flatMap(([id, bound]) =>
    typeof bound === 'object' ? [[id, bound] as const] : [],
  ),
)('the rows of %s are so small that their number bounds a page', (id, bound) => {
  const operation = pages.find(({ operationId }) => operationId === id) as Operation;
  expect(pageBytes(operation, bound)).toBeLessThanOrEqual(PAGE_BYTES);
});

test('the holidays of all subscriptions of a member within the longest range fit a page', async () => {
  const catalogue = new HolidayCatalogue();
  const range = { from: '2020-01-01', to: '2045-12-31', types: HOLIDAY_TYPES, language: 'en' };
  /** The most bytes of a place in four years, which a range of three years touches. */
  let longest = 0;
  for (const { country, regions } of await catalogue.countries())
    for (const region of [null, ...Object.keys(regions)]) {
      const years = new Map<number, number>();
      for (const holiday of await catalogue.holidays({ ...range, country, region })) {
        const shown = { ...holiday, source: 'personal', color: '#0e7c3a', busy: false };
        const year = Number(holiday.date.slice(0, 4));
        years.set(year, (years.get(year) ?? 0) + Buffer.byteLength(JSON.stringify(shown)));
      }
      for (const first of years.keys()) {
        const bytes = [0, 1, 2, 3].map((n) => years.get(first + n) ?? 0);
        longest = Math.max(
          longest,
          bytes.reduce((sum, one) => sum + one, 0),
        );
      }
    }
  expect(longest).toBeGreaterThan(10_000);
  // Of the workspace, and of the member.
  expect(2 * MAX_SUBSCRIPTIONS * longest).toBeLessThanOrEqual(PAGE_BYTES);
  expect(Buffer.byteLength(JSON.stringify(await catalogue.countries()))).toBeLessThan(PAGE_BYTES);
});
