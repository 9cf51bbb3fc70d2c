import { matchesTag, namesTag, versionsNamed } from '../../../src/platform/http/entity-tags.js';

describe('entity tags', () => {
  test.each([
    ['"a"', '"a"', true, true],
    ['"a"', '"b"', false, false],
    ['W/"a"', '"a"', false, true],
    ['"a"', 'W/"a"', false, true],
    ['W/"a"', 'W/"a"', false, true],
    ['"x", W/"y",\t"a"', '"a"', true, true],
    ['"x", W/"a"', '"a"', false, true],
    ['"x,"a"', '"x,"', true, true],
    ['*', 'W/"a"', true, true],
    [' * ', '"a"', true, true],
    ['"*"', '"a"', false, false],
    ['', '"a"', false, false],
    ['a', '"a"', false, false],
  ])('%j names %j: If-Match %s, If-None-Match %s', (header, etag, strongly, weakly) => {
    expect([matchesTag(header, etag), namesTag(header, etag)]).toEqual([strongly, weakly]);
  });

  test('a missing If-None-Match names none', () => {
    expect([namesTag(undefined, '"a"'), versionsNamed(undefined)]).toEqual([false, []]);
  });

  test('the versions of a header are bounded', () => {
    expect(versionsNamed('"a", W/"b",""')).toEqual(['a', 'b']);
    expect(versionsNamed('*')).toEqual(['*']);
    expect(versionsNamed('"*", "*-64"')).toEqual([]);
    expect(versionsNamed(`"${'a'.repeat(65)}"`)).toEqual([]);
    expect(versionsNamed('"a",'.repeat(100))).toHaveLength(20);
  });
});
