import { type CardDateType, newCard, readCard, toJsContact } from '../../../src/lib/vcard/index.js';

const jsContact = (...rows: string[]) =>
  toJsContact({
    ...readCard(`BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ina\r\n${rows.join('\r\n')}\r\nEND:VCARD\r\n`),
    uid: 'a',
  });

describe('JSContact', () => {
  it('has dates as PartialDate if possible, and as properties of vCard otherwise', () => {
    const date = (type: CardDateType, year: number | null, month: number | null, day: number | null) => ({
      type,
      year,
      month,
      day,
      label: null,
    });
    const dates = [
      date('birthday', 1985, 4, 12),
      date('birthday', null, 4, 12),
      date('anniversary', 1985, 4, null),
      date('anniversary', 1985, null, 12),
      date('birthday', null, 4, null),
      date('anniversary', null, null, 12),
    ];
    const card = toJsContact({ ...newCard({ full_name: 'Maria', dates }), uid: 'a' });
    expect(Object.values(card['anniversaries'] as object).map(({ date }) => date)).toEqual([
      { '@type': 'PartialDate', year: 1985, month: 4, day: 12 },
      { '@type': 'PartialDate', month: 4, day: 12 },
      { '@type': 'PartialDate', year: 1985, month: 4 },
      { '@type': 'PartialDate', year: 1985 },
    ]);
    expect(card['vCardProps']).toEqual([
      ['x-abdate', { group: 'date5' }, 'date-and-or-time', '--04'],
      ['x-ablabel', { group: 'date5' }, 'text', '_$!<Birthday>!$_'],
      ['x-abdate', { group: 'date6' }, 'date-and-or-time', '---12'],
      ['x-ablabel', { group: 'date6' }, 'text', '_$!<Anniversary>!$_'],
    ]);
  });

  it('has the kinds of RFC 6473 and 6869, contexts of RFC 9554, calendars and times', () => {
    expect(jsContact('KIND:device')).toMatchObject({ kind: 'device' });
    expect(jsContact('KIND:application')).toMatchObject({ kind: 'application' });
    expect(
      Object.values(jsContact('ADR;TYPE=billing:;;Kai 3;Bergen;;;')['addresses'] as object),
    ).toMatchObject([{ contexts: { billing: true } }]);
    expect(
      Object.values(jsContact('BDAY;CALSCALE=gregorian:19840626')['anniversaries'] as object),
    ).toMatchObject([
      { date: { '@type': 'PartialDate', year: 1984, month: 6, day: 26, calendarScale: 'gregorian' } },
    ]);
    expect(
      Object.values(jsContact('DEATHDATE;CALSCALE=chinese:19960415')['anniversaries'] as object),
    ).toMatchObject([{ date: { '@type': 'PartialDate', year: 1996, calendarScale: 'chinese' } }]);
    expect(Object.values(jsContact('DEATHDATE:19960415T231000Z')['anniversaries'] as object)).toMatchObject([
      { kind: 'death', date: { '@type': 'Timestamp', utc: '1996-04-15T23:10:00Z' } },
    ]);
  });

  it.each([
    ['ROLE:Skipper', 'titles', { kind: 'role', name: 'Skipper' }],
    ['LOGO:https://a.example/x', 'media', { kind: 'logo', uri: 'https://a.example/x' }],
    ['SOUND:https://a.example/x', 'media', { kind: 'sound', uri: 'https://a.example/x' }],
    ['SOURCE:https://a.example/x', 'directories', { kind: 'entry', uri: 'https://a.example/x' }],
    ['ORG-DIRECTORY:https://a.example/x', 'directories', { kind: 'directory', uri: 'https://a.example/x' }],
    ['KEY:https://a.example/x', 'cryptoKeys', { uri: 'https://a.example/x' }],
    [
      'CALURI;PREF=2:https://a.example/x',
      'calendars',
      { kind: 'calendar', uri: 'https://a.example/x', pref: 2 },
    ],
    ['FBURL:https://a.example/x', 'calendars', { kind: 'freeBusy', uri: 'https://a.example/x' }],
    ['CALADRURI:mailto:a@a.example', 'schedulingAddresses', { uri: 'mailto:a@a.example' }],
    ['CONTACT-URI:mailto:a@a.example', 'links', { kind: 'contact', uri: 'mailto:a@a.example' }],
    ['EXPERTISE;LEVEL=expert:knots', 'personalInfo', { kind: 'expertise', value: 'knots', level: 'high' }],
    ['HOBBY;X-A=b:rowing', 'personalInfo', { kind: 'hobby', value: 'rowing', vCardParams: { 'x-a': 'b' } }],
    ['INTEREST:tides\\, moon', 'personalInfo', { kind: 'interest', value: 'tides, moon' }],
  ])('has %s in its own property', (row, property, entry) => {
    const read = readCard(`BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ina\r\n${row}\r\nEND:VCARD\r\n`);
    const card = toJsContact({ ...read, uid: 'a' });
    expect([card[property], card['vCardProps']]).toEqual([{ k1: entry }, undefined]);
  });

  it('has the time of creation and the grammatical gender, and adds a role to the title', () => {
    const rows = ['TITLE:Joiner', 'ROLE:Skipper', 'CREATED:20010203T040506Z', 'GRAMGENDER:NEUTER'];
    const read = readCard(`BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ina\r\n${rows.join('\r\n')}\r\nEND:VCARD\r\n`);
    expect(toJsContact({ ...read, uid: 'a' })).toMatchObject({
      created: '2001-02-03T04:05:06Z',
      speakToAs: { grammaticalGender: 'neuter' },
      titles: { k1: { kind: 'title', name: 'Joiner' }, k2: { kind: 'role', name: 'Skipper' } },
    });
  });

  it.each([
    [
      'DEATHDATE:20200415',
      'anniversaries',
      { kind: 'death', date: { '@type': 'PartialDate', year: 2020, month: 4, day: 15 } },
    ],
    ['NICKNAME;TYPE=work:Inka', 'nicknames', { name: 'Inka', contexts: { work: true } }],
    [
      'ORG;SORT-AS="Boat,Sail":The Boatyard;Sails',
      'organizations',
      { name: 'The Boatyard', sortAs: 'Boat', units: [{ name: 'Sails', sortAs: 'Sail' }] },
    ],
    [
      'NOTE;AUTHOR-NAME=Eli;AUTHOR="https://a.example/":boats',
      'notes',
      { note: 'boats', author: { name: 'Eli', uri: 'https://a.example/' } },
    ],
    ['NOTE;CREATED=20221123T150132Z:boats', 'notes', { note: 'boats', created: '2022-11-23T15:01:32Z' }],
    ['GEO:geo:60.39,5.32', 'addresses', { coordinates: 'geo:60.39,5.32' }],
    ['GEO:60.39;5.32', 'addresses', { coordinates: 'geo:60.39,5.32' }],
    ['TZ:Europe/Oslo', 'addresses', { timeZone: 'Europe/Oslo' }],
    ['TZ:-0500', 'addresses', { timeZone: 'Etc/GMT+5' }],
    ['LANG;PREF=2;TYPE=work:nb', 'preferredLanguages', { language: 'nb', pref: 2, contexts: { work: true } }],
    ['EMAIL;PID=1.1:a@a.example', 'emails', { address: 'a@a.example', vCardParams: { pid: '1.1' } }],
    [
      'HOBBY;INDEX=2;LEVEL=high:rowing',
      'personalInfo',
      { kind: 'hobby', value: 'rowing', listAs: 2, level: 'high' },
    ],
    [
      'LOGO;MEDIATYPE=image/png:https://a.example/x',
      'media',
      { kind: 'logo', uri: 'https://a.example/x', mediaType: 'image/png' },
    ],
    ['IMPP:xmpp:a@a.example', 'onlineServices', { uri: 'xmpp:a@a.example', vCardName: 'impp' }],
    ['TITLE;TYPE=work:Joiner', 'titles', { kind: 'title', name: 'Joiner', vCardParams: { type: 'work' } }],
    [
      'ADR;GEO="geo:1,2";TZ=Europe/Oslo:;;Kai 3;Bergen;;;;room 5;;;3;Kai;;;;;;',
      'addresses',
      {
        coordinates: 'geo:1,2',
        timeZone: 'Europe/Oslo',
        components: [
          { kind: 'locality', value: 'Bergen' },
          { kind: 'room', value: 'room 5' },
          { kind: 'number', value: '3' },
          { kind: 'name', value: 'Kai' },
        ],
      },
    ],
  ])('has the parameters and the value of %s', (row, property, entry) => {
    const card = jsContact(row);
    expect([card[property], card['vCardProps']]).toEqual([{ k1: entry }, undefined]);
  });

  it('has the ids of PROP-ID', () => {
    expect(jsContact('EMAIL;PROP-ID=mail:a@a.example')['emails']).toEqual({
      mail: { address: 'a@a.example' },
    });
  });

  it('has the components of a name with their order of sorting', () => {
    expect(jsContact('N;SORT-AS="Holm,Ina":Holm,Sund;Ina;Eva,Ida;;MSc,Jr.;Sund;Jr.')['name']).toEqual({
      full: 'Ina',
      components: [
        { kind: 'given', value: 'Ina' },
        { kind: 'given2', value: 'Eva' },
        { kind: 'given2', value: 'Ida' },
        { kind: 'surname', value: 'Holm' },
        { kind: 'surname2', value: 'Sund' },
        { kind: 'generation', value: 'Jr.' },
        { kind: 'credential', value: 'MSc' },
      ],
      sortAs: { surname: 'Holm', given: 'Ina' },
    });
  });

  it('has language, gender, pronouns, and places of dates; a place without a date is a property of vCard', () => {
    const rows = [
      'LANGUAGE:nb',
      'GRAMGENDER:FEMININE',
      'PRONOUNS;PREF=1:she/her',
      'BDAY:19840626',
      'BIRTHPLACE:Bergen',
      'DEATHPLACE:Oslo',
    ];
    expect(jsContact(...rows)).toMatchObject({
      language: 'nb',
      speakToAs: { grammaticalGender: 'feminine', pronouns: { k1: { pronouns: 'she/her', pref: 1 } } },
      anniversaries: { k1: { kind: 'birth', place: { full: 'Bergen' } } },
      vCardProps: [['deathplace', {}, 'unknown', 'Oslo']],
    });
  });

  it('joins coordinates and a time zone with the address of their group', () => {
    const card = jsContact('a.ADR:;;Kai 3;Bergen;;;', 'a.GEO:geo:1,2', 'a.TZ:Europe/Oslo');
    expect(card['addresses']).toMatchObject({ k1: { coordinates: 'geo:1,2', timeZone: 'Europe/Oslo' } });
    expect(Object.keys(card['addresses'] as object)).toEqual(['k1']);
  });

  // The main language is that of the card; without one, the entry without a language or the first.
  it.each([
    [
      'the first',
      ['LANGUAGE:nb', 'TITLE;ALTID=1;LANGUAGE=nb:Snekker', 'TITLE;ALTID=1;LANGUAGE=de:Tischlerin'],
      'Snekker',
      'de',
      'Tischlerin',
    ],
    [
      'the second',
      ['LANGUAGE:de', 'TITLE;ALTID=1;LANGUAGE=nb:Snekker', 'TITLE;ALTID=1;LANGUAGE=de:Tischlerin'],
      'Tischlerin',
      'nb',
      'Snekker',
    ],
    ['unknown', ['TITLE;ALTID=1;LANGUAGE=nb:Snekker', 'TITLE;ALTID=1:Joiner'], 'Joiner', 'nb', 'Snekker'],
  ])(
    'has alternatives as localizations; the main language is that of %s',
    (_, rows, main, language, other) => {
      expect(jsContact(...rows)).toMatchObject({
        titles: { k1: { name: main } },
        localizations: { [language]: { 'titles/k1': { kind: 'title', name: other } } },
      });
    },
  );

  it('keeps alternatives that have no language of their own', () => {
    const card = jsContact('TITLE;ALTID=1;LANGUAGE=nb:A', 'TITLE;ALTID=1;LANGUAGE=nb:B', 'TITLE;ALTID=1:C');
    expect(Object.values(card['titles'] as object).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['C', 'B']),
    );
  });

  it('has names in other languages as localizations', () => {
    const rows = [
      'N;ALTID=1;LANGUAGE=ja:小川;光;;;',
      'N;ALTID=1;LANGUAGE=en:Ogawa;Hikaru;;;',
      'FN;ALTID=2;LANGUAGE=ja:小川 光',
    ];
    expect(jsContact(...rows)).toMatchObject({
      name: {
        full: 'Ina',
        components: [
          { kind: 'given', value: '光' },
          { kind: 'surname', value: '小川' },
        ],
      },
      localizations: {
        en: {
          'name/components': [
            { kind: 'given', value: 'Hikaru' },
            { kind: 'surname', value: 'Ogawa' },
          ],
        },
        ja: { 'name/full': '小川 光' },
      },
    });
  });
});
