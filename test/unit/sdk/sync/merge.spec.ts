import fc from 'fast-check';
import { diff3 } from '../../../../sdk/dist/sync/merge/diff3.js';
import { type Conflict, mergeField } from '../../../../sdk/dist/sync/merge/fields.js';
import { isBalanced, mergeText } from '../../../../sdk/dist/sync/merge/text.js';

const tokens = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
const paragraph = fc.constantFrom(
  '<p>one two three</p>',
  '<p>four</p>',
  '<li>five <b>six</b></li>',
  '<p></p>',
);
const html = fc.array(paragraph, { maxLength: 6 }).map((parts) => parts.join(''));

describe('the three-way merge of lists', () => {
  test('takes the side that has changed, or the same change of both', () => {
    fc.assert(
      fc.property(tokens, tokens, (base, other) => {
        expect(diff3(base, other, base)!.flat()).toEqual(other);
        expect(diff3(base, base, other)!.flat()).toEqual(other);
        expect(diff3(base, other, other)!.flat()).toEqual(other);
      }),
    );
  });

  test('keeps each side in the order of its version', () => {
    fc.assert(
      fc.property(tokens, tokens, tokens, (base, local, server) => {
        const merged = diff3(base, local, server)!;
        const bases = merged.map((part) => (Array.isArray(part) ? undefined : part.base.join('')));
        // Without collisions the merge is the same, whichever side is called local.
        if (bases.every((one) => one === undefined))
          expect(diff3(base, server, local)!.flat()).toEqual(merged.flat());
      }),
    );
  });

  test('gives up where the text is another one, within bounded time', () => {
    const other = (name: string) => Array.from({ length: 20_000 }, (_, n) => `${name}${n}`);
    expect(diff3(other('a'), other('b'), other('a'))).toBeUndefined();
  });
});

describe('the merge of texts', () => {
  const merged = (base: string, local: string, server: string) => mergeText(base, local, server, 'html');
  const bothKept = (text: string) => ({ text, collided: true });
  const clean = (text: string) => ({ text, collided: false });

  test('merges changes of different paragraphs, and of different words of one', () => {
    expect(
      merged('<p>one</p><p>two</p>', '<p>one mine</p><p>two</p>', '<p>one</p><p>two theirs</p>'),
    ).toEqual(clean('<p>one mine</p><p>two theirs</p>'));
    const base = '<p>Travel, rooms and the budget of May</p>';
    expect(merged(base, base.replace('rooms', '<b>hotel</b> rooms'), base.replace('May', 'June'))).toEqual(
      clean('<p>Travel, <b>hotel</b> rooms and the budget of June</p>'),
    );
  });

  test('merges changes that touch', () => {
    expect(merged('<h1>Plan</h1>', '<h2>Plan</h2>', '<h1>Plan 2027</h1>')).toEqual(
      clean('<h2>Plan 2027</h2>'),
    );
  });

  test('keeps both insertions at one place', () => {
    const list = (...items: string[]) => `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;
    expect(merged(list('a'), list('a', 'mine'), list('a', 'theirs'))).toEqual(
      clean(list('a', 'theirs', 'mine')),
    );
  });

  test('keeps both paragraphs where the same words were changed', () => {
    expect(merged('<p>Meet at 10</p>', '<p>Meet at 11</p>', '<p>Meet at 12</p>')).toEqual(
      bothKept('<p>Meet at 12</p><p>Meet at 11</p>'),
    );
    expect(merged('<h1>Plan</h1>', '<h2>Plan</h2>', '<h3>Plan</h3>')).toEqual(
      bothKept('<h3>Plan</h3><h2>Plan</h2>'),
    );
  });

  test('keeps a paragraph that one side has deleted and the other has changed', () => {
    expect(merged('<p>keep</p><p>old text</p>', '<p>keep</p>', '<p>keep</p><p>better text</p>')).toEqual(
      bothKept('<p>keep</p><p>better text</p>'),
    );
  });

  test('does not interleave marks that overlap', () => {
    const result = merged('<p>a b c d</p>', '<p>a <b>b c</b> d</p>', '<p>a b <i>c d</i></p>');
    expect(result).toEqual(bothKept('<p>a b <i>c d</i></p><p>a <b>b c</b> d</p>'));
  });

  test('merges lines and words of plain text, also of scripts without spaces', () => {
    expect(mergeText('a\nb', 'a\nb c', 'x\nb', 'plain')).toEqual(clean('x\nb c'));
    expect(mergeText('東京で会議する', '東京で長い会議する', '大阪で会議する', 'plain')).toEqual(
      clean('大阪で長い会議する'),
    );
    expect(mergeText('10', '11', '12', 'plain')).toEqual(bothKept('12\n11'));
  });

  test('leaves HTML well-formed, and loses no word that one side has added', () => {
    const word = fc.constantFrom('red', 'green', '<b>blue</b>', '<p>new</p>');
    const edit = (text: string, at: number, by: string) => {
      const places = [...text.matchAll(/ |(?=<\/)|(?<=>)/g)].map(({ index }) => index);
      const place = places[at % Math.max(1, places.length)] ?? 0;
      return `${text.slice(0, place)} ${by} ${text.slice(place)}`;
    };
    fc.assert(
      fc.property(html, fc.nat(), fc.nat(), word, word, (base, one, two, mine, theirs) => {
        const result = merged(base, edit(base, one, mine), edit(base, two, theirs));
        if (!result) return;
        expect(isBalanced(result.text)).toBe(true);
        for (const added of [mine, theirs]) expect(result.text).toContain(added);
      }),
    );
  });

  test('takes a change of one side unchanged', () => {
    fc.assert(
      fc.property(html, html, (base, other) => {
        expect(merged(base, other, base)).toEqual(clean(other));
        expect(merged(base, base, other)).toEqual(clean(other));
      }),
    );
  });
});

describe('the merge of fields', () => {
  const asked: Conflict['merged'][] = [];
  const merge = (base: unknown, local: unknown, server: unknown) =>
    mergeField({ base, local, server }, undefined, (merged) => {
      asked.push(merged);
      return merged;
    });
  beforeEach(() => void asked.splice(0));

  test('adds and removes names of lists', () => {
    expect(merge(['a', 'b'], ['a', 'mine'], ['a', 'b', 'theirs'])).toEqual(['a', 'theirs', 'mine']);
    expect(asked).toEqual([]);
  });

  test('keeps the value of the user, unless the application decides otherwise', () => {
    expect(merge('May', 'June', 'July')).toBe('June');
    expect(asked).toEqual(['June']);
  });
});
