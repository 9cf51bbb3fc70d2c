import { hasOneSender } from '../../../src/modules/mail/calendar-mail/calendar-mail-reader.js';

const from = (...values: string[]) => values.map((value) => ({ key: 'from', value }));

describe('a mail has one sender', () => {
  test.each([
    ['an address', from('ann@acme.example')],
    ['a name with an address', from('Ann <ann@acme.example>')],
    ['a quoted name with an @', from('"ann@evil.example, \\" @" <ann@acme.example>')],
    ['a comment with an address', from('ann@acme.example (was (ann@evil.example))')],
    ['a quoted local part', from('"a@b"@acme.example')],
    ['other headers', [{ key: 'to', value: 'a@b.example, c@d.example' }, ...from('ann@acme.example')]],
    ['a quoted name within a word', from('x"Pat <pat@acme.example>" <ann@acme.example>')],
    ['a missing end of quotes', from('"Ann <ann@acme.example>')],
    ['a missing end of a comment', from('ann@acme.example (Ann')],
    ['no reported headers', undefined],
  ])('%s', (_, headers) => expect(hasOneSender(headers)).toBe(true));

  test.each([
    ['two addresses', from('ann@acme.example, eve@evil.example')],
    ['two headers', from('ann@acme.example', 'eve@evil.example')],
    ['two equal headers', from('ann@acme.example', 'ann@acme.example')],
    ['a header in capitals', [{ key: 'From', value: 'eve@evil.example' }, ...from('ann@acme.example')]],
    ['an address as the name', from('ann@acme.example <eve@evil.example>')],
    ['a group of two', from('Us: ann@acme.example, eve@evil.example;')],
    ['an address after a quote', from('ann@acme.example "Eve <eve@evil.example>')],
    ['an address after a parenthesis', from('ann@acme.example (Eve <eve@evil.example>')],
    ['no From', []],
    ['an empty From', from('')],
  ])('not with %s', (_, headers) => expect(hasOneSender(headers)).toBe(false));
});
