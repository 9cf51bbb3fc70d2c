import { plainText } from '../../../src/lib/html/index.js';

describe('the plain text of HTML', () => {
  test('has no empty line between blocks, after long ones neither', () => {
    for (const length of [10, 511, 512, 2_000])
      expect(plainText(`<p>${'a'.repeat(length)}</p><p>b</p>`)).toBe(`${'a'.repeat(length)}\nb`);
  });

  test.each(['<br>', '<br/>', '<BR />', '<br\n/>'])('has a line break for %j', (tag) => {
    expect(plainText(`a${tag}b`)).toBe('a\nb');
  });

  test.each([
    ['&#65;&#x42;&#67 &#X44', 'ABC D'],
    ['&#128;&#x9f;&#129;', '\u20ac\u0178\u0081'],
    ['a&#0;b&#xd800;c&#x110000;d&#99999999999;', 'a\ufffdb\ufffdc\ufffdd\ufffd'],
    [
      '&ampx &notit; &hellip; &hellip &NotEqualTilde; &unknown; &#; &#x;',
      '&x \u00acit; \u2026 &hellip \u2242\u0338 &unknown; &#; &#x;',
    ],
  ])('has the characters of references: %j', (html, text) => {
    expect(plainText(html)).toBe(text);
  });

  test.each(['&#1', '&aa'])('reads very many references as fast as common ones: %s', (reference) => {
    const timeOf = (each: string): number => {
      const html = each.repeat(100_000);
      const times = Array.from({ length: 5 }, () => {
        const start = process.cpuUsage();
        plainText(html);
        return process.cpuUsage(start).user;
      });
      return Math.min(...times);
    };
    expect(timeOf(reference) / timeOf('&lt;')).toBeLessThan(4);
  });
});
