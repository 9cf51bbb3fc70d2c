import { mailAddress } from '../../../src/lib/text/index.js';

describe('an e-mail address as users paste it', () => {
  test.each([
    ['\u200bbob@north.example\ufeff'],
    ['\u202abob@nor\u00adth.example\u202c'],
    ['\u00a0bob@north.example\u2060 '],
    ['mailto:bob@north.example'],
    [' \u200eMAILTO: bob@north.example'],
    ['mailto:bob%40north.example%E2%80%8B?subject=Hello%20you'],
    ['Bob Stone <bob@north.example>'],
    ['"Stone, Bob" <\u200bbob@north.example> '],
    ['<bob@north.example>'],
    ['<mailto:bob@north.example>'],
  ])('%j is the address', (text) => expect(mailAddress(text)).toBe('bob@north.example'));

  test.each([
    ['"a b"@north.example'],
    ['a+b%c?d@north.example'],
    ['/C=DE/A=x'],
    ['no address'],
    ['\u{1f469}\u200d\u{1f467}'],
    ['mailto:bob'],
    ['a@b.example, <c@d.example>'],
    ['ina@نامه\u200cای.example'],
    [''],
    [`<a@${'b'.repeat(2_000)}>`],
  ])('%j stays', (text) => expect(mailAddress(text)).toBe(text));
});
