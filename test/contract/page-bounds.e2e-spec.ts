import { readFileSync } from 'node:fs';
import { PAGE_BYTES } from '../../src/platform/paging/page-bytes.js';
import { PAGE_BOUNDS, ROWS } from '../support/contract/page-bounds.ts';

interface Schema {
  $ref?: string;
  allOf?: Schema[];
  properties?: Record<string, Schema>;
}
interface Operation {
  operationId: string;
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

const resolved = (schema: Schema): Schema =>
  schema.$ref ? (document.components.schemas[schema.$ref.split('/').at(-1) as string] as Schema) : schema;

function namesOf(given: Schema): string[] {
  const { properties = {}, allOf = [] } = resolved(given);
  return [...Object.keys(properties), ...allOf.flatMap(namesOf)];
}

/** Operations whose response is a page: it has a position that the next request continues. */
const pages = Object.values(document.paths)
  .flatMap((operations) => Object.values(operations))
  .filter(({ responses }) => {
    const schema = responses?.['200']?.content?.['application/json']?.schema;
    return schema && namesOf(schema).some((name) => ['next', 'has_more', 'more'].includes(name));
  })
  .map(({ operationId }) => operationId);

test('each list of the API states what bounds the bytes of its pages', () => {
  expect(Object.keys(PAGE_BOUNDS).toSorted()).toEqual(pages.toSorted());
});

test('a page without a bound in bytes fits it by the number and the size of its rows', () => {
  const tooLarge = Object.entries(PAGE_BOUNDS).filter(
    ([, bound]) => typeof bound === 'number' && bound * ROWS > PAGE_BYTES,
  );
  expect(tooLarge).toEqual([]);
});

test('no further list has pages above the bound', () => {
  const open = Object.entries(PAGE_BOUNDS).filter(([, bound]) => bound === 'open');
  expect(open.length).toBeLessThanOrEqual(34);
});
