import { type Card, newCard, readCard, readCards, writeCard } from '../../../src/lib/vcard/index.js';
import { comparable } from './cards.ts';

/** Cards as programs export them, and the expected members. */

const entry = { label: null, types: [], primary: false };
const name = {
  prefix: null,
  given: null,
  middle: null,
  family: null,
  suffix: null,
  phonetic_given: null,
  phonetic_family: null,
};
const address = {
  ...entry,
  street: null,
  extended: null,
  po_box: null,
  locality: null,
  region: null,
  postal_code: null,
  country: null,
  country_code: null,
  formatted: null,
};

const EXAMPLES: [name: string, card: string, expected: Partial<Card>][] = [
  [
    'Apple: grouped labels, dates without year, company, related names, social profile',
    `BEGIN:VCARD
VERSION:3.0
PRODID:-//Apple Inc.//iPhone OS 17.5//EN
N:Appleseed;Johnny;Middle\\, Two;Dr.;Jr.
FN:Dr. Johnny Appleseed Jr.
X-PHONETIC-FIRST-NAME:joni
ORG:Orchard\\; Ltd;Trees;
X-ABShowAs:COMPANY
EMAIL;type=INTERNET;type=HOME;type=pref:johnny@example.com
item1.EMAIL;type=INTERNET:j@farm.example
item1.X-ABLabel:Farm
TEL;type=CELL;type=VOICE;type=pref:+1 (555) 010-0123
TEL;type=HOME;type=FAX:5550100
item2.ADR;type=HOME;type=pref:;;1 Infinite Loop\\nSuite 2;Cupertino;CA;95014;USA
item2.X-ABADR:us
item3.URL;type=pref:https\\://example.com/
item3.X-ABLabel:_$!<HomePage>!$_
BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-29
item4.X-ABDATE;type=pref:2009-09-26
item4.X-ABLabel:_$!<Anniversary>!$_
item5.X-ABDATE:2010-01-02
item5.X-ABLabel:First tree
item6.X-ABRELATEDNAMES:Ann Appleseed
item6.X-ABLabel:_$!<Mother>!$_
X-SOCIALPROFILE;type=twitter;x-user=johnny:http://twitter.com/johnny
IMPP;X-SERVICE-TYPE=Jabber;type=HOME:xmpp:johnny@example.com
NOTE:Line one\\nLine two\\, with comma
X-ABUID:5AD380FD-B2DE-4261-BA99-DE1D1DB52FBE\\:ABPerson
END:VCARD`,
    {
      kind: 'org',
      full_name: 'Dr. Johnny Appleseed Jr.',
      name: {
        ...name,
        prefix: 'Dr.',
        given: 'Johnny',
        middle: 'Middle, Two',
        family: 'Appleseed',
        suffix: 'Jr.',
        phonetic_given: 'joni',
      },
      organization: { name: 'Orchard; Ltd', units: ['Trees'] },
      emails: [
        { ...entry, types: ['home'], primary: true, value: 'johnny@example.com' },
        { ...entry, label: 'Farm', value: 'j@farm.example' },
      ],
      phones: [
        { ...entry, types: ['cell', 'voice'], primary: true, value: '+1 (555) 010-0123', extension: null },
        { ...entry, types: ['home', 'fax'], value: '5550100', extension: null },
      ],
      addresses: [
        {
          ...address,
          types: ['home'],
          primary: true,
          street: '1 Infinite Loop\nSuite 2',
          locality: 'Cupertino',
          region: 'CA',
          postal_code: '95014',
          country: 'USA',
          country_code: 'US',
        },
      ],
      urls: [{ ...entry, types: ['homepage'], primary: true, value: 'https://example.com/' }],
      profiles: [
        { ...entry, service: 'twitter', user: 'johnny', uri: 'http://twitter.com/johnny' },
        { ...entry, types: ['home'], service: 'Jabber', user: null, uri: 'xmpp:johnny@example.com' },
      ],
      dates: [
        { type: 'birthday', year: null, month: 2, day: 29, label: null },
        { type: 'anniversary', year: 2009, month: 9, day: 26, label: null },
        { type: 'other', year: 2010, month: 1, day: 2, label: 'First tree' },
      ],
      related: [{ type: 'mother', name: 'Ann Appleseed', uri: null }],
      notes: 'Line one\nLine two, with comma',
      custom: [
        {
          group: null,
          name: 'X-ABUID',
          params: {},
          value: '5AD380FD-B2DE-4261-BA99-DE1D1DB52FBE\\:ABPerson',
        },
      ],
    },
  ],
  [
    'Android: 2.1 with quoted-printable over several lines, own properties, base64 photo',
    `BEGIN:VCARD
VERSION:2.1
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=C5=99=C3=ADhov=C3=A1;Jana;;;
FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=4A=61=6E=61=20=C5=99=C3=AD=
=68=6F=76=C3=A1
TEL;CELL;PREF:+420 777 123 456
TEL;X-Custom(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=C3=A9):1234
EMAIL;WORK:jana@example.cz
NOTE;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:one=0D=0Atwo
X-ANDROID-CUSTOM:vnd.android.cursor.item/nickname;Janička;1;;;;;;;;;;;;;
X-ANDROID-CUSTOM:vnd.android.cursor.item/relation;Petr;14;;;;;;;;;;;;;
X-ANDROID-CUSTOM:vnd.android.cursor.item/contact_event;2012-06-30;0;Graduation;;;;;;;;;;;;
X-ANDROID-CUSTOM:vnd.com.example.item/thing;1;2
X-QQ:12345
PHOTO;ENCODING=BASE64;JPEG:/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQ
 FxQYGBcUFhYaHSUfGhsjHBYW

END:VCARD`,
    {
      full_name: 'Jana říhová',
      name: { ...name, given: 'Jana', family: 'říhová' },
      nicknames: ['Janička'],
      emails: [{ ...entry, types: ['work'], value: 'jana@example.cz' }],
      notes: 'one\ntwo',
      related: [{ type: 'spouse', name: 'Petr', uri: null }],
      dates: [{ type: 'other', year: 2012, month: 6, day: 30, label: 'Graduation' }],
      profiles: [{ ...entry, service: 'QQ', user: '12345', uri: null }],
      custom: [
        { group: null, name: 'X-ANDROID-CUSTOM', params: {}, value: 'vnd.com.example.item/thing;1;2' },
      ],
    },
  ],
  [
    'Outlook: 2.1 in Windows-1252, label as text, department, own properties',
    `BEGIN:VCARD
VERSION:2.1
N;LANGUAGE=de;CHARSET=Windows-1252:M\u00FCller;J\u00F6rg
FN;CHARSET=Windows-1252:J\u00F6rg M\u00FCller
ORG;CHARSET=Windows-1252:Gr\u00FCn, Blau & Co;Vertrieb
TITLE:Leiter
TEL;WORK;VOICE:+49 (30) 123456
X-MS-TEL;VOICE;COMPANY:+49 (30) 0
ADR;WORK;PREF:;;Hauptstr. 5;Berlin;;10115;Deutschland
LABEL;WORK;PREF;ENCODING=QUOTED-PRINTABLE:Hauptstr. 5=0D=0A=
10115 Berlin
X-MS-OL-DEFAULT-POSTAL-ADDRESS:2
URL;WORK:http://example.de
X-MS-SPOUSE;N=1:Eva
X-MS-ANNIVERSARY:20010305
EMAIL;PREF;INTERNET:joerg@example.de
X-MS-IMADDRESS:joerg@im.example
X-MS-CARDPICTURE;TYPE=JPEG;ENCODING=BASE64:
 /9j/4AAQSkZJRgABAQEAYABg

REV:20240102T030405Z
END:VCARD`,
    {
      full_name: 'Jörg Müller',
      name: { ...name, given: 'Jörg', family: 'Müller' },
      organization: { name: 'Grün, Blau & Co', units: ['Vertrieb'] },
      job_title: 'Leiter',
      phones: [
        { ...entry, types: ['work', 'voice'], value: '+49 (30) 123456', extension: null },
        { ...entry, types: ['voice', 'company'], value: '+49 (30) 0', extension: null },
      ],
      addresses: [
        {
          ...address,
          types: ['work'],
          primary: true,
          street: 'Hauptstr. 5',
          locality: 'Berlin',
          postal_code: '10115',
          country: 'Deutschland',
          formatted: 'Hauptstr. 5\n10115 Berlin',
        },
      ],
      related: [{ type: 'spouse', name: 'Eva', uri: null }],
      dates: [{ type: 'anniversary', year: 2001, month: 3, day: 5, label: null }],
      profiles: [{ ...entry, service: null, user: 'joerg@im.example', uri: null }],
    },
  ],
  [
    'Google: labels, photo by address without VALUE, own dates and relations',
    `BEGIN:VCARD
VERSION:3.0
FN:Mary Smith
N:Smith;Mary;;;
NICKNAME:Molly,Mol
item1.TEL:+1 555-0100
item1.X-ABLabel:Boat
EMAIL;TYPE=INTERNET;TYPE=HOME:mary@example.com
item2.URL:http\\://www.google.com/profiles/1
item2.X-ABLabel:PROFILE
item3.X-ABDATE:2001-01-01
item3.X-ABLabel:_$!<Other>!$_
item4.X-ABRELATEDNAMES:Bob
item4.X-ABLabel:_$!<Spouse>!$_
IMPP;X-SERVICE-TYPE=GoogleTalk;TYPE=HOME:xmpp:mary@gmail.example
CATEGORIES:myContacts,starred
PHOTO:https://lh3.googleusercontent.com/contacts/AA=s72
BDAY:1980-12-01
END:VCARD`,
    {
      nicknames: ['Molly', 'Mol'],
      phones: [{ ...entry, label: 'Boat', value: '+1 555-0100', extension: null }],
      urls: [{ ...entry, label: 'PROFILE', value: 'http://www.google.com/profiles/1' }],
      dates: [
        { type: 'other', year: 2001, month: 1, day: 1, label: null },
        { type: 'birthday', year: 1980, month: 12, day: 1, label: null },
      ],
      related: [{ type: 'spouse', name: 'Bob', uri: null }],
      categories: ['myContacts', 'starred'],
      photo: { uri: 'https://lh3.googleusercontent.com/contacts/AA=s72' },
      custom: [],
    },
  ],
  [
    'RFC 6350: parameters in quotes, preferences, labels of addresses, kinds and relations',
    `BEGIN:VCARD
VERSION:4.0
UID:urn:uuid:4fbe8971-0bc3-424c-9c26-36c3e1eff6b1
KIND:group
FN;PID=1.1:The Doe family
N:Stevenson;John;Philip,Paul;Dr.;Jr.,M.D.,A.C.P.
BDAY:--0203
ANNIVERSARY:20090808T1430-0500
LANG;PREF=1:fr
LANG;PREF=2:en
TEL;VALUE=uri;PREF=1;TYPE="voice,home":tel:+1-555-555-5555;ext=5555
EMAIL;TYPE=work;PREF=50:jqpublic@xyz.example.com
EMAIL;PREF=2:jane_doe@example.com
ADR;GEO="geo:12.3457,78.910";LABEL="Mr. John Q. Public, Esq.\\nMail Drop: TNE QB":;;123 Main Street;Any Town;CA;91921-1234;U.S.A.
MEMBER:urn:uuid:03a0e51f-d1aa-4385-8a53-e29025acd8af
MEMBER:mailto:subscriber1@example.com
RELATED;TYPE=friend,co-worker:urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6
RELATED;TYPE=co-worker;VALUE=text:Please contact my assistant
TZ:-0500
GENDER:M;Fellow
SOCIALPROFILE;SERVICE-TYPE=Mastodon;USERNAME=ann:https://example.com/@ann
PHOTO:data:image/png;base64,iVBORw0KGgo=
END:VCARD`,
    {
      uid: '4fbe8971-0bc3-424c-9c26-36c3e1eff6b1',
      kind: 'group',
      name: {
        ...name,
        given: 'John',
        middle: 'Philip Paul',
        family: 'Stevenson',
        prefix: 'Dr.',
        suffix: 'Jr., M.D., A.C.P.',
      },
      dates: [
        { type: 'birthday', year: null, month: 2, day: 3, label: null },
        { type: 'anniversary', year: 2009, month: 8, day: 8, label: null },
      ],
      language: 'fr',
      phones: [
        { ...entry, types: ['voice', 'home'], primary: true, value: '+1-555-555-5555', extension: '5555' },
      ],
      emails: [
        { ...entry, types: ['work'], value: 'jqpublic@xyz.example.com' },
        { ...entry, primary: true, value: 'jane_doe@example.com' },
      ],
      addresses: [
        {
          ...address,
          street: '123 Main Street',
          locality: 'Any Town',
          region: 'CA',
          postal_code: '91921-1234',
          country: 'U.S.A.',
          formatted: 'Mr. John Q. Public, Esq.\nMail Drop: TNE QB',
        },
      ],
      members: ['03a0e51f-d1aa-4385-8a53-e29025acd8af', 'mailto:subscriber1@example.com'],
      related: [
        { type: 'friend', name: null, uri: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' },
        { type: 'co-worker', name: null, uri: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' },
        { type: 'co-worker', name: 'Please contact my assistant', uri: null },
      ],
      time_zone: '-0500',
      profiles: [{ ...entry, service: 'Mastodon', user: 'ann', uri: 'https://example.com/@ann' }],
      custom: [
        { group: null, name: 'LANG', params: { PREF: ['2'] }, value: 'en' },
        { group: null, name: 'GENDER', params: {}, value: 'M;Fellow' },
        { group: null, name: 'FN', params: { PID: ['1.1'] }, value: 'The Doe family' },
        { group: null, name: 'N', params: {}, value: 'Stevenson;John;Philip,Paul;Dr.;Jr.,M.D.,A.C.P.' },
        {
          group: null,
          name: 'ADR',
          params: { GEO: ['geo:12.3457,78.910'] },
          value: ';;123 Main Street;Any Town;CA;91921-1234;U.S.A.',
        },
        { group: null, name: 'LANG', params: { PREF: ['1'] }, value: 'fr' },
      ],
    },
  ],
  [
    'Evolution and KDE: messengers, spouse, anniversary; a second organization stays',
    `BEGIN:VCARD
VERSION:3.0
FN:Kim
ORG:One
ORG:Two;Unit
X-JABBER;TYPE=WORK:kim@jabber.example
X-EVOLUTION-SPOUSE:Lee
X-KADDRESSBOOK-X-Anniversary:2000-01-01
X-EVOLUTION-FILE-AS:Kim\\, K
LOGO;ENCODING=b;TYPE=PNG:iVBORw0KGgo=
END:VCARD`,
    {
      organization: { name: 'One', units: [] },
      profiles: [
        {
          ...entry,
          types: ['work'],
          service: 'Jabber',
          user: 'kim@jabber.example',
          uri: 'xmpp:kim@jabber.example',
        },
      ],
      related: [{ type: 'spouse', name: 'Lee', uri: null }],
      dates: [{ type: 'anniversary', year: 2000, month: 1, day: 1, label: null }],
      custom: [
        { group: null, name: 'ORG', params: {}, value: 'Two;Unit' },
        { group: null, name: 'X-EVOLUTION-FILE-AS', params: {}, value: 'Kim\\, K' },
        { group: null, name: 'LOGO', params: {}, value: 'data:image/png;base64,iVBORw0KGgo=' },
      ],
    },
  ],
  [
    'lenient: unescaped line break, folded header, mailto, dates that do not exist, empty properties',
    `BEGIN:VCARD
FN: Pat  Doe
N:;;;;
TEL:
EMAIL;TYPE=home:mailto:pat@example.com
NOTE:first line
second line
ADR;TYPE=home;LABEL="a
 b":;;;;;;
BDAY:1985-13-45
X-ANNIVERSARY:1990-02-30
URL:https://example.com/?a=1,2;b=3
END:VCARD`,
    {
      full_name: 'Pat  Doe',
      name: null,
      phones: [],
      emails: [{ ...entry, types: ['home'], value: 'pat@example.com' }],
      notes: 'first line\nsecond line',
      addresses: [{ ...address, types: ['home'], formatted: 'ab' }],
      dates: [],
      urls: [{ ...entry, value: 'https://example.com/?a=1,2;b=3' }],
      custom: [
        { group: null, name: 'BDAY', params: {}, value: '1985-13-45' },
        { group: null, name: 'X-ANNIVERSARY', params: {}, value: '1990-02-30' },
      ],
    },
  ],
];

describe('cards of other programs', () => {
  it.each(EXAMPLES)('%s', async (example, text, expected) => {
    // As bytes, because Outlook writes another charset than UTF-8.
    const bytes = Buffer.from(
      text.replaceAll('\n', '\r\n'),
      example.startsWith('Outlook') ? 'latin1' : 'utf8',
    );
    for await (const result of readCards([bytes])) {
      const { card } = result as { card: Card };
      expect(card).toMatchObject(expected);
      for (const version of ['3.0', '4.0'] as const) {
        expect(comparable(readCard(writeCard(card, { version })))).toEqual(comparable(card));
      }
    }
  });

  it.each([
    ['SHIFT_JIS', Buffer.from([0x8e, 0x52, 0x93, 0x63]), '山田'],
    ['GBK', Buffer.from([0xd5, 0xc5]), '张'],
    ['KOI8-R', Buffer.from([0xe9, 0xd7, 0xc1, 0xce]), 'Иван'],
    ['ISO-8859-2', Buffer.from([0xd8, 0xed]), 'Ří'],
    ['no-such-charset', Buffer.from('Zoë'), 'Zoë'],
  ])('charset %s of vCard 2.1, plain and quoted-printable', async (charset, bytes, expected) => {
    const quoted = [...bytes].map((byte) => `=${byte.toString(16).toUpperCase()}`).join('');
    const file = Buffer.concat([
      Buffer.from(
        `BEGIN:VCARD\nVERSION:2.1\nN;CHARSET=${charset};QUOTED-PRINTABLE:${quoted};\nFN;CHARSET=${charset}:`,
      ),
      bytes,
      Buffer.from('\nEND:VCARD\n'),
    ]);
    for await (const result of readCards([file])) {
      expect(result).toMatchObject({ card: { full_name: expected, name: { family: expected } } });
    }
  });

  it('a fold within a character of UTF-8', async () => {
    const [first, second] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
    const file = Buffer.concat([
      Buffer.from('BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Caf'),
      first,
      Buffer.from('\r\n '),
      second,
      Buffer.from('\r\nEND:VCARD\r\n'),
    ]);
    for await (const result of readCards([file]))
      expect(result).toMatchObject({ card: { full_name: 'Café' } });
  });

  it.each([
    ['nested', 'VERSION:2.1\nFN:Boss\nAGENT:\nBEGIN:VCARD\nVERSION:2.1\nFN:Helper\nTEL:2\nEND:VCARD\nTEL:1'],
    [
      'nested in its line',
      'VERSION:2.1\nFN:Boss\nAGENT:BEGIN:VCARD\nVERSION:2.1\nFN:Helper\nTEL:2\nEND:VCARD\nTEL:1',
    ],
    ['escaped', 'VERSION:3.0\nFN:Boss\nAGENT:BEGIN:VCARD\\nFN:Helper\\nTEL:2\\nEND:VCARD\\n\nTEL:1'],
  ])('an agent, %s, is a related person with a card', (_, content) => {
    const card = readCard(`BEGIN:VCARD\n${content}\nEND:VCARD\n`);
    expect(card).toMatchObject({
      full_name: 'Boss',
      phones: [{ value: '1' }],
      related: [{ type: 'agent', name: 'Helper' }],
      custom: [],
    });
    const uri = card.related[0]?.uri ?? '';
    expect(readCard(decodeURIComponent(uri.slice(uri.indexOf(',') + 1)))).toMatchObject({
      full_name: 'Helper',
      phones: [{ value: '2' }],
    });
    for (const version of ['3.0', '4.0'] as const)
      expect(readCard(writeCard(card, { version }))).toEqual(card);
    expect(writeCard(card, { version: '3.0' })).toMatch(/^AGENT:BEGIN:VCARD\\n/m);
  });

  it('a card of the API cannot add lines', () => {
    const custom: Card['custom'] = [
      {
        group: 'a\r\nb',
        name: 'X-OK',
        params: { 'X-P': ['1"\r\nTEL:2'], 'B AD': ['1'] },
        value: 'x\r\nTEL:3\u0000',
      },
      { group: null, name: 'X-BAD:1\r\nTEL', params: {}, value: '4' },
      { group: null, name: 'END', params: {}, value: 'VCARD' },
    ];
    const card = newCard({ full_name: 'Ann\r\nTEL:5', custom });
    for (const version of ['3.0', '4.0'] as const) {
      const read = readCard(writeCard(card, { version }));
      expect(read.phones).toEqual([]);
      expect(read.full_name).toBe('Ann TEL:5');
      expect(read.custom).toEqual([
        { group: null, name: 'X-OK', params: { 'X-P': ['1"\nTEL:2'] }, value: 'x\\nTEL:3' },
      ]);
    }
  });
});
