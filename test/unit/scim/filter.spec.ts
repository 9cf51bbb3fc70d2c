import fc from 'fast-check';
import {
  type Json,
  matches,
  parseFilter,
  scopeOf,
  ScimInputError,
  USERS,
} from '../../../src/lib/scim/index.js';

const SCOPE = scopeOf(USERS);
const WORDS = ['ann', 'bob', 'work', 'home', 'a b', 'quo"te', 'x', ''];

const USER = {
  userName: 'bjensen',
  name: { familyName: "O'Malley" },
  title: 'Tour Guide',
  userType: 'Employee',
  active: true,
  emails: [
    { type: 'work', value: 'bjensen@example.com', primary: true },
    { type: 'home', value: 'babs@jensen.org' },
  ],
  meta: { lastModified: '2011-05-13T04:42:34.000Z', resourceType: 'User' },
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': {
    department: 'Tours',
    manager: { value: 'u9' },
  },
};

const isMatch = (text: string, resource: Json = USER) => matches(parseFilter(text, SCOPE), resource);

describe('filters', () => {
  // RFC 7644, section 3.4.2.2, figure 2.
  test.each([
    ['userName eq "bjensen"', true],
    ['userName Eq "BJENSEN"', true],
    ['name.familyName co "O\'Malley"', true],
    ['userName sw "J"', false],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "b"', true],
    ['title pr', true],
    ['nickName pr', false],
    ['meta.lastModified gt "2011-05-13T04:42:33Z"', true],
    ['meta.lastModified ge "2011-05-13T04:42:34Z"', true],
    ['meta.lastModified lt "2011-05-13T06:42:34+02:00"', false],
    ['meta.lastModified le "2011-05-13T06:42:34+02:00"', true],
    ['title pr and userType eq "Employee"', true],
    ['title pr or userType eq "Intern"', true],
    ['schemas eq "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"', false],
    ['userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")', true],
    ['userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")', false],
    ['userType eq "Employee" and (emails.type eq "work")', true],
    ['userType eq "Employee" and emails[type eq "work" and value co "@example.com"]', true],
    ['emails[type eq "work" and value co "@example.com"] or phoneNumbers[type eq "pager"]', true],
    ['emails[type eq "home" and value co "@example.com"]', false],
    // Not in the grammar. Microsoft Entra sends it.
    ['emails[type eq "work"].value eq "BJensen@example.com"', true],
    ['emails[type eq "home"].value co "@example.com"', false],
    ['active eq true and emails[type eq "home"].value pr', true],
    ['emails[type eq "work"] Eq "BJensen@example.com"', true],
    ['emails[type eq "home"] co "@example.com" or active eq false', false],
    // Names of the extension without its URN, and an object compared by its value.
    ['userName eq "bjensen" and manager eq "u9"', true],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager eq "u9"', true],
    ['manager ne "u9" or manager.value eq "u8" or department eq "Sales"', false],
    ['department eq "tours" and manager pr', true],
    ['active eq true and nickName eq null', true],
    ['userName ew "SEN" and NOT (active eq false)', true],
    ['title eq "Guide" or title eq "x" and userName eq "bjensen"', false],
  ])('%s', (filter, expected) => expect(isMatch(filter)).toBe(expected));

  test('and binds more strongly than or', () => {
    expect(isMatch('title pr or userName eq "x" and userName eq "y"')).toBe(true);
    expect(isMatch('(title pr or userName eq "x") and userName eq "y"')).toBe(false);
  });

  const text = fc.constantFrom(...WORDS).map((word) => JSON.stringify(word));
  const comparison = fc
    .tuple(
      fc.constantFrom('userName', 'title', 'name.familyName'),
      fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew'),
      text,
    )
    .map((parts) => parts.join(' '));
  const presence = fc.constantFrom('title', 'nickName').map((name) => `${name} pr`);
  const { filter } = fc.letrec<{ filter: string }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 4 },
      comparison,
      presence,
      fc.tuple(tie('filter'), fc.constantFrom('and', 'or'), tie('filter')).map((parts) => parts.join(' ')),
      tie('filter').map((inner) => `not (${inner})`),
      tie('filter').map((inner) => `(${inner})`),
    ),
  }));

  test('parsed text equals the meaning of its tree', () => {
    // An independent evaluator: Node evaluates the expression that the grammar builds.
    const meaning = (source: string, user: Json): boolean => {
      const [value, name] = [user, source.split(' ')[0]!];
      const [first, second] = name.split('.') as [string, string?];
      const held = second ? (value[first] as Json | undefined)?.[second] : value[first];
      if (source.endsWith(' pr')) return held !== undefined && held !== '';
      const [, op, wanted] = /^\S+ (\w+) (.*)$/s.exec(source) as unknown as [string, string, string];
      const [left, right] = [String(held).toLowerCase(), String(JSON.parse(wanted)).toLowerCase()];
      if (op === 'ne') return held === undefined || left !== right;
      if (held === undefined) return false;
      return {
        eq: left === right,
        co: left.includes(right),
        sw: left.startsWith(right),
        ew: left.endsWith(right),
      }[op]!;
    };
    const user = fc.record({ userName: fc.constantFrom(...WORDS), title: fc.constantFrom(...WORDS) });
    fc.assert(
      fc.property(fc.array(comparison, { minLength: 1, maxLength: 4 }), user, (terms, resource) => {
        expect(isMatch(terms.join(' and '), resource)).toBe(terms.every((term) => meaning(term, resource)));
        expect(isMatch(terms.join(' or '), resource)).toBe(terms.some((term) => meaning(term, resource)));
        expect(isMatch(`not (${terms.join(' or ')})`, resource)).toBe(!isMatch(terms.join(' or '), resource));
      }),
    );
  });

  test('every filter of the grammar is accepted', () => {
    fc.assert(fc.property(filter, (source) => expect(typeof isMatch(source)).toBe('boolean')));
  });

  test('any other text is rejected with invalidFilter, and never by another error', () => {
    const part = fc.oneof(
      fc.constantFrom(
        '(',
        ')',
        '[',
        ']',
        '"',
        ' ',
        'and',
        'or',
        'not',
        'eq',
        'pr',
        'userName',
        'emails',
        '.',
        '\\',
        '1',
      ),
      fc.string({ maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        try {
          parseFilter(parts.join(''), SCOPE);
        } catch (error) {
          expect(error).toBeInstanceOf(ScimInputError);
          expect((error as ScimInputError).scimType).toBe('invalidFilter');
        }
      }),
    );
  });
});
