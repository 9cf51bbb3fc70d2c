import fc from 'fast-check';
import {
  addressForms,
  addressKey,
  charactersOf,
  cutText,
  labelOf,
  shortenText,
  hasVisibleCharacter,
} from '../../../src/lib/text/index.js';

describe('cut text', () => {
  test.each([
    ['abc', 5, 'abc'],
    ['abc', 2, 'ab'],
    ['a😀😀', 2, 'a😀'],
    ['😀', 0, ''],
    ['a\ud800', 2, 'a\ufffd'],
  ])('%j to %i characters', (text, max, expected) => {
    expect(cutText(text, max)).toBe(expected);
  });

  test('is well-formed, at most as long, and a beginning of well-formed text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, max) => {
        const cut = cutText(text, max);
        expect([cut.isWellFormed(), charactersOf(cut)]).toEqual([true, Math.min(max, charactersOf(text))]);
        expect(text.startsWith(cut)).toBe(true);
      }),
    );
  });
});

test.each([
  ['😀😀', 2, '😀😀'],
  ['😀😀😀', 2, '😀😀…'],
])('%s shortened to %i characters ends with an ellipsis if something is missing', (text, max, expected) => {
  expect(shortenText(text, max)).toBe(expected);
});

test('a label is composed, without blanks around it', () => {
  expect(labelOf(' Ma\u0308rz\t')).toBe('M\u00e4rz');
  expect(labelOf('  ')).toBe('  ');
  // Composing takes the square of the time for a run of marks.
  const long = 'Ma\u0308'.repeat(400);
  expect(labelOf(long)).toBe(long);
});

test('the spellings of an address differ in case and in the form of its domain only', () => {
  expect(addressForms(' Ann@Plain.Example ')).toEqual(['ann@plain.example']);
  const [unicode, ascii] = ['ann@bücher.example', 'ann@xn--bcher-kva.example'] as const;
  expect(addressForms('Ann@Bücher.example')).toEqual([unicode, ascii]);
  expect(addressForms(ascii)).toEqual([ascii, unicode]);
  expect([unicode, ascii, 'ANN@BÜCHER.EXAMPLE'].map(addressKey)).toEqual([ascii, ascii, ascii]);
  // No domains: they stay as they are.
  for (const text of ['jörg', 'a@ü b', 'a@ü/b.example', 'a@xn--\u00fc.example', `a@${'ü'.repeat(300)}`, ''])
    expect([text, addressForms(text), addressKey(text)]).toEqual([text, [text], text]);
});

test.each(['', ' \n', '\u3164', '\u2800', '\u200b', '\u{1d159}'])('%j has no visible character', (text) => {
  expect([hasVisibleCharacter(text), hasVisibleCharacter(`${text}\u{1d15f}`)]).toEqual([false, true]);
});
