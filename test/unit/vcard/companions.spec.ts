import * as fc from 'fast-check';
import {
  type Card,
  CARD_VERSIONS,
  newCard,
  readCard,
  toJsContact,
  withoutStale,
  writeCard,
} from '../../../src/lib/vcard/index.js';
import { runs } from '../../support/property-runs.ts';
import { anyCard, comparable } from './cards.ts';

const read = (version: string, ...rows: string[]): Card =>
  readCard(`BEGIN:VCARD\r\nVERSION:${version}\r\nFN:Ina\r\n${rows.join('\r\n')}\r\nEND:VCARD\r\n`);
/** The unfolded lines of a card. */
const rowsOf = (card: Card, version: '3.0' | '4.0'): string[] =>
  writeCard(card, { version }).replaceAll('\r\n ', '').split('\r\n');

describe('parts of properties that fields do not hold', () => {
  // [version, row of the source, row of vCard 4.0]
  test.each([
    ['3.0', 'TEL;TYPE=CELL;waid=420601000001:+420601000001', 'TEL;TYPE=cell;WAID=420601000001:+420601000001'],
    ['4.0', 'N;SORT-AS="おがわ,ひかる":小川;光;;;', 'N;SORT-AS="おがわ,ひかる":小川;光;;;'],
    ['4.0', 'N:Lind;Ana;Eva,Ida;;MSc,PhD;Sund;Jr.', 'N:Lind;Ana;Eva,Ida;;MSc,PhD;Sund;Jr.'],
    [
      '4.0',
      'NOTE;AUTHOR-NAME=Eli;CREATED=20221123T150132Z:boats',
      'NOTE;AUTHOR-NAME=Eli;CREATED=20221123T150132Z:boats',
    ],
    ['4.0', 'EMAIL;PID=1.1:ina@home.example', 'EMAIL;PID=1.1:ina@home.example'],
    ['4.0', 'NICKNAME;TYPE=work:Inka,Ini', 'NICKNAME;TYPE=work:Inka,Ini'],
    ['4.0', 'CATEGORIES;ALTID=1;LANGUAGE=de:Boote', 'CATEGORIES;ALTID=1;LANGUAGE=de:Boote'],
    ['4.0', 'ORG;SORT-AS=Boat:The Boatyard;Sails', 'ORG;SORT-AS=Boat:The Boatyard;Sails'],
    ['4.0', 'TITLE;LANGUAGE=de:Tischlerin', 'TITLE;LANGUAGE=de:Tischlerin'],
    ['4.0', 'URL;MEDIATYPE=text/html:https://home.example/', 'URL;MEDIATYPE=text/html:https://home.example/'],
    ['4.0', 'LANG;PREF=2;TYPE=work:nb', 'LANG;PREF=2;TYPE=work:nb'],
    ['4.0', 'LANG;PREF=1:nb', 'LANG;PREF=1:nb'],
    ['4.0', 'TITLE;PREF=1:Skipper', 'TITLE;PREF=1:Skipper'],
    ['4.0', 'TZ;ALTID=1:Europe/Oslo', 'TZ;ALTID=1:Europe/Oslo'],
    ['3.0', 'BDAY;CALSCALE=gregorian:1984-06-26', 'BDAY;CALSCALE=gregorian:19840626'],
    ['4.0', 'RELATED;TYPE=friend;PID=1.1:urn:x:1', 'RELATED;TYPE=friend;PID=1.1:urn:x:1'],
    ['4.0', 'MEMBER;PID=1.1:mailto:ina@home.example', 'MEMBER;PID=1.1:mailto:ina@home.example'],
    [
      '3.0',
      'PHOTO;VALUE=uri;TYPE=JPEG:https://pictures.example/p.jpg',
      'PHOTO;TYPE=JPEG:https://pictures.example/p.jpg',
    ],
    [
      '3.0',
      'IMPP;X-SERVICE-TYPE=WhatsApp:x-apple:420601000001',
      'IMPP;SERVICE-TYPE=WhatsApp:x-apple:420601000001',
    ],
    ['4.0', 'IMPP:https://chat.example/ina', 'IMPP:https://chat.example/ina'],
    [
      '4.0',
      'ADR;GEO="geo:60.4,5.3":;;Kai 3;Bergen;;5003;Norway;room 5;;;3;Kai;;;;;;',
      'ADR;GEO="geo:60.4,5.3":;;Kai 3;Bergen;;5003;Norway;room 5;;;3;Kai;;;;;;',
    ],
  ])('%s %s is written as %s', (version, row, expected) => {
    const card = read(version, row);
    expect(rowsOf(card, '4.0')).toContain(expected);
    expect(comparable(readCard(writeCard(card, { version: '4.0' })))).toEqual(comparable(card));
  });

  test('a position has the form of the version', () => {
    expect(rowsOf(read('3.0', 'GEO:60.4;5.3'), '4.0')).toContain('GEO:geo:60.4,5.3');
    expect(rowsOf(read('4.0', 'GEO:geo:60.4,5.3'), '3.0')).toContain('GEO:60.4;5.3');
  });

  test.each(CARD_VERSIONS)('properties of one group stay together in %s, with their label', (version) => {
    const card = read(
      '4.0',
      'ITEM1.EMAIL:ina@home.example',
      'ITEM1.X-ABLabel:Boat',
      'ITEM1.X-PM-SIGN:true',
      'ITEM2.EMAIL:ina@work.example',
      'ITEM2.X-PM-SIGN:false',
      'ITEM3.TEL:1',
      'ITEM3.X-ABLabel:Cabin',
    );
    expect(card.emails).toMatchObject([{ label: 'Boat' }, { label: null }]);
    const rows = rowsOf(card, version);
    for (const row of ['ITEM1.EMAIL:ina@home.example', 'ITEM1.X-ABLabel:Boat', 'ITEM1.X-PM-SIGN:true'])
      expect(rows).toContain(row);
    expect(rows).toContain('ITEM2.EMAIL:ina@work.example');
    expect(readCard(writeCard(card, { version }))).toEqual(card);
  });

  test('two numbers of one group with different labels get groups of their own', () => {
    const card = read('4.0', 'a.TEL:1', 'a.TEL:2', 'a.X-FOO:3', 'a.X-ABLabel:Boat');
    const [first, second] = card.phones;
    const changed = { ...card, phones: [first!, { ...second!, label: 'Car' }] };
    expect(readCard(writeCard(changed, { version: '4.0' })).phones).toEqual(changed.phones);
  });

  test('vCard 3.0 has the components that it defines', () => {
    const card = read('4.0', 'N:Lind;Ana;;;;Sund;Jr.', 'ADR:;;Kai 3;Bergen;;5003;Norway;room 5');
    expect(rowsOf(card, '3.0')).toEqual(
      expect.arrayContaining(['N:Lind;Ana;;;', 'ADR:;;Kai 3;Bergen;;5003;Norway']),
    );
  });

  test.each([
    ['with one ALTID', 'N;ALTID=7;LANGUAGE=ja:小川;光;;;', 'N;ALTID=7;LANGUAGE=en:Ogawa;Hikaru;;;', '7'],
    ['without', 'N:小川;光;;;', 'N:Ogawa;Hikaru;;;', '1'],
    ['with different ones', 'BDAY;ALTID=1:19840626', 'BDAY;ALTID=2;VALUE=text:Sankthans', '1'],
  ])('alternatives %s have one ALTID in 4.0, and 3.0 has the first', (_, first, second, altId) => {
    const card = read('4.0', first, second);
    const alternatives = (version: '3.0' | '4.0') =>
      rowsOf(card, version).filter((row) => /^(N|BDAY)[;:][^;]*[^;:]/.test(row) && row !== 'N:;;;;');
    expect(alternatives('4.0').map((row) => /ALTID=([^;:]*)/.exec(row)?.[1])).toEqual([altId, altId]);
    expect(alternatives('3.0')).toHaveLength(1);
  });

  test('notes are written in their parts', () => {
    const card = read('4.0', 'NOTE:first', 'NOTE;AUTHOR-NAME=Eli:likes\\nboats', 'NOTE:last\\n\\nof all');
    expect(card.notes).toBe('first\nlikes\nboats\nlast\n\nof all');
    expect(rowsOf(card, '4.0').filter((row) => row.startsWith('NOTE'))).toEqual([
      'NOTE:first',
      'NOTE;AUTHOR-NAME=Eli:likes\\nboats',
      'NOTE:last\\n\\nof all',
    ]);
    expect(readCard(writeCard(card, { version: '4.0' }))).toEqual(card);
  });

  test('are removed with their value', () => {
    const card = read(
      '4.0',
      'EMAIL;PID=1.1:ina@home.example',
      'TITLE;LANGUAGE=de:Tischlerin',
      'TITLE:Joiner',
      'X-A:1',
    );
    expect(card.custom).toHaveLength(4);
    expect(withoutStale(card, card)).toEqual(card.custom);
    const names = (after: Card): string[] =>
      withoutStale(card, after).map(({ name, value }) => `${name}:${value}`);
    expect(names({ ...card, emails: [] })).toEqual(['TITLE:Joiner', 'X-A:1', 'TITLE:Tischlerin']);
    expect(names({ ...card, job_title: 'Skipper' })).toEqual([
      'TITLE:Joiner',
      'X-A:1',
      'EMAIL:ina@home.example',
    ]);
  });

  test('come back with any other content', () => {
    fc.assert(
      fc.property(anyCard, fc.constantFrom(...CARD_VERSIONS), (any, version) => {
        const companion = (name: string, value: string) => ({
          group: 'G-1',
          name,
          params: { PID: ['1.1'] },
          value,
        });
        const card = {
          ...any,
          job_title: 'Joiner',
          organization: { name: 'Boatyard', units: ['Sails'] },
          custom: [
            ...any.custom.map((property) => ({ ...property, group: null })),
            companion('ORG', 'Boatyard;Sails'),
            companion('TITLE', 'Joiner'),
          ],
        };
        expect(comparable(readCard(writeCard(card, { version })))).toEqual(comparable(card));
      }),
      { numRuns: runs(200) },
    );
  });

  test('a group, a name and a line break of the API cannot add lines', () => {
    const custom: Card['custom'] = [
      { group: 'a\r\nb', name: 'TITLE', params: { 'X-P': ['1\r\nTEL:2'], 'B AD': ['1'] }, value: 'Joiner' },
      { group: null, name: 'N', params: {}, value: 'Holm;Ina;;;;a\r\nTEL:3' },
    ];
    const name = {
      prefix: null,
      given: 'Ina',
      middle: null,
      family: 'Holm',
      suffix: null,
      phonetic_given: null,
      phonetic_family: null,
    };
    const card = newCard({ full_name: 'Ina', name, job_title: 'Joiner', custom });
    for (const version of CARD_VERSIONS) {
      const again = readCard(writeCard(card, { version }));
      expect([again.phones, again.job_title]).toEqual([[], 'Joiner']);
    }
  });
});

describe('several properties of a field with one value', () => {
  const PICTURE = 'data:image/png;base64,';
  // [version, the rows, what the card has]
  test.each([
    ['4.0', ['FN;PREF=2:Alt', 'FN;PREF=1:Main', 'FN:None'], { full_name: 'Main' }],
    ['4.0', ['FN:None', 'FN;PREF=50:Main'], { full_name: 'Main' }],
    ['4.0', ['FN:First', 'FN:Second'], { full_name: 'First' }],
    ['4.0', ['FN;PREF=3:First', 'FN;PREF=3:Second'], { full_name: 'First' }],
    ['4.0', ['FN;PREF=0:First', 'FN;PREF=x:Second'], { full_name: 'First' }],
    ['4.0', ['TITLE;PREF=2:Cook', 'TITLE;PREF=1:Skipper'], { job_title: 'Skipper' }],
    ['3.0', ['TITLE:Cook', 'TITLE;TYPE=work,pref:Skipper'], { job_title: 'Skipper' }],
    ['2.1', ['TITLE:Cook', 'TITLE;PREF:Skipper'], { job_title: 'Skipper' }],
    ['4.0', ['ORG:Yard', 'ORG;PREF=1:Boats;Sails'], { organization: { name: 'Boats', units: ['Sails'] } }],
    ['4.0', ['TZ;PREF=2:Europe/Oslo', 'TZ;PREF=1:Europe/Rome'], { time_zone: 'Europe/Rome' }],
    ['4.0', ['LANG;PREF=2:nb', 'LANG;PREF=1:it'], { language: 'it' }],
    [
      '4.0',
      [`PHOTO;PREF=2:${PICTURE}AAAA`, `PHOTO;PREF=1:${PICTURE}BBBB`],
      { photo: { media_type: 'image/png', data: Buffer.from('BBBB', 'base64') } },
    ],
  ])('%s %j: the preferred one is the field', (version, rows, expected) => {
    const card = readCard(
      `BEGIN:VCARD\r\nVERSION:${version}\r\n${['N:Lind;Ana;;;', ...rows].join('\r\n')}\r\nEND:VCARD\r\n`,
    );
    expect(card).toMatchObject(expected);
    // The others are kept, and do not become the preferred one.
    expect(card.custom.filter(({ name }) => rows.some((row) => row.startsWith(name)))).not.toEqual([]);
    expect(readCard(writeCard(card, { version: '4.0' }))).toMatchObject(expected);
  });

  test('a changed field stays the preferred one', () => {
    const card = read('4.0', 'TITLE;PREF=1:Skipper', 'TITLE;PREF=2:Cook');
    const changed = { ...card, job_title: 'Owner' };
    const written = { ...changed, custom: withoutStale(card, changed) };
    expect(rowsOf(written, '4.0').filter((row) => row.startsWith('TITLE'))).toEqual([
      'TITLE;PREF=1:Owner',
      'TITLE;PREF=2:Cook',
    ]);
    expect(toJsContact({ ...written, uid: 'u' })).toMatchObject({
      titles: {
        k1: { name: 'Owner', vCardParams: { pref: '1' } },
        k2: { name: 'Cook', vCardParams: { pref: '2' } },
      },
    });
  });
});

describe('the reading of a name', () => {
  const NAME = 'N;ALTID=1;LANGUAGE=jp:小野;太郎;;;';
  const READING = 'N;PHONETIC=script;SCRIPT=Latn;ALTID=1;LANGUAGE=jp:Ono;Taro;;;';

  test.each([
    ['before', [READING, NAME]],
    ['after', [NAME, READING]],
  ])('%s the name is its reading', (_, rows) => {
    const card = read('4.0', ...rows);
    const name = { family: '小野', given: '太郎', phonetic_family: 'Ono', phonetic_given: 'Taro' };
    expect(card.name).toMatchObject(name);
    expect(rowsOf(card, '4.0')).toContain(READING);
    expect(readCard(writeCard(card, { version: '4.0' })).name).toMatchObject(name);
  });

  test('alone is the name', () => {
    expect(read('4.0', READING).name).toMatchObject({ family: 'Ono', given: 'Taro', phonetic_given: null });
  });
});
