import fc from 'fast-check';
import {
  formatXml,
  NOT_XML,
  readXml,
  type XmlElement,
  XmlError,
  xmlText,
} from '../../../src/lib/xml/index.js';
import { calendarFilterOf, matchesCard, matchesComponents } from '../../../src/modules/dav/model/filters.js';
import { cardName, externalIdOf } from '../../../src/modules/dav/collections/addressbooks.js';
import {
  isUnchanged,
  matchesIf,
  preconditionsOf,
  stateTokensOf,
} from '../../../src/modules/dav/model/conditions.js';
import { DavError } from '../../../src/modules/dav/model/body.js';
import { parsePath, pathOfHref, paths } from '../../../src/modules/dav/model/paths.js';
import { runs } from '../../support/property-runs.ts';

const EXCLUDED = new RegExp(`[${NOT_XML}]|\\p{Surrogate}`, 'gu');
const LIMITS = { depth: 10, nodes: 100 };
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

describe('XML', () => {
  test('elements have their namespaces, attributes and text', async () => {
    const text = '<a xmlns="x" xmlns:y="z" y:p="1" q="&lt;&#10;"><y:b>t<![CDATA[<u>]]></y:b> v</a>';
    const root = await readXml(text, LIMITS);
    const child = { space: 'z', name: 'b', attributes: {}, qualified: [], text: 't<u>', children: [] };
    expect(root).toMatchObject({
      space: 'x',
      name: 'a',
      attributes: { q: '<\n' },
      qualified: [{ space: 'z', name: 'p', value: '1' }],
      text: ' v',
      children: [child],
      content: [child, ' v'],
    });
    const written = '<a xmlns="x" q="&lt;&#10;" xmlns:n0="z" n0:p="1"><b xmlns="z">t&lt;u&gt;</b> v</a>';
    expect(formatXml(root)).toBe(written);
    expect(formatXml(await readXml(written, LIMITS))).toBe(written);
  });

  test('limits and document types are errors with a code', async () => {
    const codeOf = async (text: string) => {
      try {
        await readXml(text, LIMITS);
        return null;
      } catch (error) {
        return error instanceof XmlError ? error.code : error;
      }
    };
    expect(await codeOf('<a>'.repeat(11))).toBe('too_deep');
    expect(await codeOf(`<a>${'<b/>'.repeat(100)}</a>`)).toBe('too_many_nodes');
    expect(await codeOf('<!DOCTYPE a><a/>')).toBe('doctype');
    for (const text of ['', 'text', '<a>', '<a/><b/>', '<x:a/>', '<a>&b;</a>', '<a b/>'])
      expect([text, await codeOf(text)]).toEqual([text, 'malformed']);
  });

  test('any text survives as character data and as an attribute', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const root = await readXml(`<a b="${xmlText(text)}">${xmlText(text)}</a>`, LIMITS);
        const kept = text.replaceAll(EXCLUDED, '');
        expect(root.text).toBe(kept);
      }),
      { numRuns: runs(600) },
    );
  });

  test('is read as frozen elements: several requests may share them', async () => {
    const root = await readXml('<a b="c"><d>e</d></a>', LIMITS);
    const isFrozen = (element: XmlElement): boolean =>
      [element, element.attributes, element.children, element.content].every(Object.isFrozen) &&
      element.children.every(isFrozen);
    expect([root.children.length, isFrozen(root)]).toEqual([1, true]);
  });
});

describe('names of contacts', () => {
  const names = fc
    .array(fc.constantFrom('a', '.', '.vcf', 'vcf', 'é'), { minLength: 1, maxLength: 8 })
    .map((parts) => parts.join(''));

  test('each name has an external_id of its own, and each external_id a name', () => {
    fc.assert(
      fc.property(names, (text) => {
        expect(cardName(externalIdOf(text))).toBe(text);
        expect(externalIdOf(cardName(text))).toBe(text);
      }),
      { numRuns: runs(2_000) },
    );
    expect([externalIdOf('phone-17.vcf'), cardName('phone-17')]).toEqual(['phone-17', 'phone-17.vcf']);
  });
});

describe('paths', () => {
  test('a member has the name that its path was made from', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 50 })
      .filter((text) => !/[\p{Cc}\p{Surrogate}]/u.test(text));
    fc.assert(
      fc.property(name, (text) => {
        const path = paths.member(paths.collection('calendars', ID, 'work'), text);
        expect(parsePath(path)).toEqual({
          kind: 'member',
          space: 'calendars',
          userId: ID,
          segment: 'work',
          name: text,
        });
      }),
      { numRuns: runs(400) },
    );
  });

  test('an address of any form is a path', () => {
    expect(pathOfHref('http://example.com:8080/a/b%20c')).toBe('/a/b%20c');
    expect(pathOfHref(' /a/b ')).toBe('/a/b');
    expect(pathOfHref('http://[')).toBeNull();
  });
});

describe('preconditions', () => {
  const check = (headers: Record<string, string>, etag: string | null) => {
    try {
      preconditionsOf({ headers })(etag);
      return 'ok';
    } catch (error) {
      return error instanceof DavError ? error.status : error;
    }
  };

  test('If-Match names the current tag, If-None-Match does not', () => {
    expect(check({}, null)).toBe('ok');
    expect(check({ 'if-match': '"a", "b"' }, '"b"')).toBe('ok');
    expect(check({ 'if-match': '"a"' }, '"b"')).toBe(412);
    expect(check({ 'if-match': 'W/"b"' }, '"b"')).toBe(412);
    expect(check({ 'if-match': '*' }, null)).toBe(412);
    expect(check({ 'if-match': '*' }, '"b"')).toBe('ok');
    expect(check({ 'if-none-match': '*' }, null)).toBe('ok');
    expect(check({ 'if-none-match': '*' }, '"b"')).toBe(412);
    expect(check({ 'if-none-match': '"a"' }, '"b"')).toBe('ok');
    expect(isUnchanged({ headers: { 'if-none-match': '"b"' } }, '"b"')).toBe(true);
  });
});

describe('filters', () => {
  const xml = (text: string) =>
    readXml(
      text.replace('>', ' xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="urn:ietf:params:xml:ns:carddav">'),
      { depth: 20, nodes: 500 },
    );

  test('parameters, alternatives and negations of contacts', async () => {
    const card = 'BEGIN:VCARD\r\nFN:Ann\\, B\r\nitem1.TEL;TYPE="cell,voice":+42\r\n 0\r\nEND:VCARD\r\n';
    const matches = async (filter: string) =>
      matchesCard(await xml(`<A:filter test="allof">${filter}</A:filter>`), card);
    const prop = (name: string, content: string) =>
      `<A:prop-filter name="${name}">${content}</A:prop-filter>`;
    expect(await matches(prop('fn', '<A:text-match match-type="equals">ann, b</A:text-match>'))).toBe(true);
    expect(await matches(prop('TEL', '<A:text-match match-type="ends-with">420</A:text-match>'))).toBe(true);
    expect(
      await matches(
        prop('TEL', '<A:param-filter name="TYPE"><A:text-match>cell</A:text-match></A:param-filter>'),
      ),
    ).toBe(true);
    expect(await matches(prop('TEL', '<A:param-filter name="X"><A:is-not-defined/></A:param-filter>'))).toBe(
      true,
    );
    expect(await matches(prop('FN', '<A:text-match negate-condition="yes">ann</A:text-match>'))).toBe(false);
    expect(await matches(prop('FN', '<A:text-match collation="i;octet">ann</A:text-match>'))).toBe(false);
  });

  test('properties and components of events', async () => {
    const text =
      'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:u\r\nSUMMARY:Ann\\, B\r\nATTENDEE;PARTSTAT=ACCEPTED:mailto:a@b\r\nBEGIN:VALARM\r\nACTION:DISPLAY\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n';
    const matches = async (content: string) => {
      const filter = await xml(
        `<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">${content}</C:comp-filter></C:comp-filter></C:filter>`,
      );
      const { rest } = calendarFilterOf(filter);
      return rest === null || matchesComponents(rest, text, 'VEVENT');
    };
    expect(await matches('')).toBe(true);
    expect(await matches('<C:prop-filter name="UID"><C:text-match>U</C:text-match></C:prop-filter>')).toBe(
      true,
    );
    expect(
      await matches('<C:prop-filter name="SUMMARY"><C:text-match>ann, b</C:text-match></C:prop-filter>'),
    ).toBe(true);
    expect(await matches('<C:prop-filter name="LOCATION"><C:is-not-defined/></C:prop-filter>')).toBe(true);
    expect(await matches('<C:prop-filter name="LOCATION"/>')).toBe(false);
    const partstat = (value: string) =>
      `<C:prop-filter name="ATTENDEE"><C:param-filter name="PARTSTAT"><C:text-match>${value}</C:text-match></C:param-filter></C:prop-filter>`;
    expect([await matches(partstat('ACCEPTED')), await matches(partstat('DECLINED'))]).toEqual([true, false]);
    expect(await matches('<C:comp-filter name="VALARM"/>')).toBe(true);
    expect(await matches('<C:comp-filter name="VALARM"><C:is-not-defined/></C:comp-filter>')).toBe(false);
  });
});

describe('a calendar-query about components', () => {
  const UNDEFINED = '<C:is-not-defined/>';
  const hasMembers = async (...filters: string[]) => {
    const text = `<C:filter xmlns:C="urn:ietf:params:xml:ns:caldav"><C:comp-filter name="VCALENDAR">${filters.join('')}</C:comp-filter></C:filter>`;
    return calendarFilterOf(await readXml(text, LIMITS)).hasMembers;
  };
  const component = (name: string, content = '') =>
    `<C:comp-filter name="${name}">${content}</C:comp-filter>`;

  test.each([
    ['which the collection does not have', [component('VTODO', UNDEFINED)], true],
    ['of several kinds without any', [component('VTODO', UNDEFINED), component('VJOURNAL', UNDEFINED)], true],
    ['which it has, without others', [component('VEVENT'), component('VTODO', UNDEFINED)], true],
    ['which it has, as missing', [component('VEVENT', UNDEFINED)], false],
    ['of another kind', [component('VTODO')], false],
    ['of another kind, without a third', [component('VTODO'), component('VJOURNAL', UNDEFINED)], false],
  ])('%s: %j', async (_, filters, expected) => {
    expect(await hasMembers(...filters)).toBe(expected);
  });
});

describe('If headers', () => {
  const never = () => false;
  const part = fc.constantFrom('(', ')', ' ', 'Not ', '<urn:a>', '["1"]', '[W/"1"]', '<', '[', '"');

  test('are true, false or malformed', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        try {
          expect(typeof matchesIf(parts.join(''), '/a', '"1"', never)).toBe('boolean');
        } catch (error) {
          expect(error).toBeInstanceOf(DavError);
          expect((error as DavError).status).toBe(400);
        }
      }),
      { numRuns: runs(600) },
    );
  });

  test('with state tokens of this and of other resources are evaluated', () => {
    const isCurrent = (path: string, token: string) =>
      decodeURIComponent(path) === '/a' && token === 'data:,1';
    const cases: [string, boolean][] = [
      ['</a> (<data:,1>)', true],
      ['</a> (<data:,2>)', false],
      ['</a> (Not <data:,2>)', true],
      ['<http://localhost/%61> (<data:,1>)', true],
      // The token is that of the collection, not of the resource of the request.
      ['(<data:,1>)', false],
      ['(<data:,1>) (["1"])', true],
      ['</a> (<data:,1>) </b> (["1"])', true],
      ['</a> (<data:,1> ["1"])', false],
      ['</a> (<data:,2>) </a/b> (["1"])', true],
      ['</c> (Not <DAV:no-lock>)', true],
    ];
    for (const [header, isTrue] of cases)
      expect([header, matchesIf(header, '/a/b', '"1"', isCurrent)]).toEqual([header, isTrue]);
    expect(stateTokensOf('</a> (<data:,1> ["1"]) (Not <x>)', '/b')).toEqual([
      { path: '/a', token: 'data:,1' },
      { path: '/a', token: 'x' },
    ]);
  });

  test('with a tag in brackets that contains a bracket are read', () => {
    expect(matchesIf('(["a]b"])', '/a', '"a]b"', never)).toBe(true);
    expect(matchesIf('<http://localhost/%61> (not ["b"])', '/a', '"a"', never)).toBe(true);
    expect(matchesIf('</b> (["a"]) </a> (["b"] ["a"])', '/a', '"a"', never)).toBe(false);
  });
});
