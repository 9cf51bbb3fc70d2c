import { containsWords, searchText } from '../../../src/platform/resources/text-search.js';

/** The LIKE patterns of a query. */
const patterns = (query: string) =>
  (containsWords(query)?.value as { value: string }[] | undefined)?.map(({ value }) => value);

describe('search in small collections', () => {
  test('stored text and queries are folded alike', () => {
    expect(searchText('Café', null, '', 'ÜBER')).toBe('cafe uber');
    expect(patterns(' CAFÉ  über ')).toEqual(['%cafe%', '%uber%']);
  });

  test('characters of LIKE patterns are literal', () => {
    expect(patterns('50%_\\')).toEqual(['%50\\%\\_\\\\%']);
  });

  test('a query without words has no condition', () => {
    expect([containsWords(undefined), containsWords('  ')]).toEqual([undefined, undefined]);
  });
});
