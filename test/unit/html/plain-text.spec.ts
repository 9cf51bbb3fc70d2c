import { plainText } from '../../../src/lib/html/index.js';

describe('the plain text of HTML', () => {
  test('has no empty line between blocks, after long ones neither', () => {
    for (const length of [10, 511, 512, 2_000])
      expect(plainText(`<p>${'a'.repeat(length)}</p><p>b</p>`)).toBe(`${'a'.repeat(length)}\nb`);
  });

  test.each(['<br>', '<br/>', '<BR />', '<br\n/>'])('has a line break for %j', (tag) => {
    expect(plainText(`a${tag}b`)).toBe('a\nb');
  });
});
