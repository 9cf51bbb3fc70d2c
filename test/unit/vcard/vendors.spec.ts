import { readCard, readCards, writeCard } from '../../../src/lib/vcard/index.js';

/** Peculiarities of single programs, one card each. */
const card = (version: string, ...rows: string[]) =>
  ['BEGIN:VCARD', `VERSION:${version}`, 'FN:Ina Holm', ...rows, 'END:VCARD', ''].join('\r\n');
const read = (version: string, ...rows: string[]) => readCard(card(version, ...rows));

describe('properties of single programs', () => {
  test.each([
    ['Mobile', ['cell']],
    ['HomeFAX', ['home', 'fax']],
    ['WorkFAX', ['work', 'fax']],
    ['OtherFAX', ['fax']],
    ['Work', ['work']],
  ])('the built-in label %s of Apple is a type', (label, types) => {
    const { phones } = read('3.0', 'item1.TEL:+420601000001', `item1.X-ABLabel:_$!<${label}>!$_`);
    expect(phones[0]).toMatchObject({ types, label: null });
  });

  test.each([
    ['X-SIP:sip:ina@x.example', { service: 'SIP', user: 'ina@x.example', uri: 'sip:ina@x.example' }],
    ['X-SIP:ina@x.example', { service: 'SIP', user: 'ina@x.example', uri: 'sip:ina@x.example' }],
    ['X-JABBER:xmpp:ina@x.example', { service: 'Jabber', user: 'ina@x.example', uri: 'xmpp:ina@x.example' }],
    ['X-ZIMBRA-IMADDRESS1:xmpp://ina@x.example', { service: null, user: 'xmpp://ina@x.example', uri: null }],
    ['X-KADDRESSBOOK-X-IMAddress:ina@x.example', { service: null, user: 'ina@x.example', uri: null }],
    [
      'X-messaging/xmpp-All:ina@x.example',
      { service: 'Jabber', user: 'ina@x.example', uri: 'xmpp:ina@x.example' },
    ],
    ['X-messaging/skype-All:ina', { service: 'Skype', user: 'ina', uri: 'skype:ina' }],
  ])('%s is a profile', (row, profile) => {
    expect(read('3.0', row)).toMatchObject({ profiles: [profile], custom: [] });
    const again = readCard(writeCard(read('3.0', row), { version: '4.0' }));
    expect(again.profiles).toMatchObject([profile.uri ? { uri: profile.uri } : { user: profile.user }]);
  });

  test.each([
    ['X-MANAGERSNAME:Pat', { related: [{ type: 'manager', name: 'Pat' }] }],
    ['X-ZIMBRA-ANNIVERSARY:2008-12-10', { dates: [{ type: 'anniversary', year: 2008 }] }],
    [
      'X-EVOLUTION-BLOG-URL:https://x.example/b',
      { urls: [{ value: 'https://x.example/b', types: ['blog'] }] },
    ],
    [
      'X-EVOLUTION-VIDEO-URL:https://x.example/v',
      { urls: [{ value: 'https://x.example/v', types: ['video'] }] },
    ],
    [
      'X-KADDRESSBOOK-BlogFeed:https://x.example/b',
      { urls: [{ value: 'https://x.example/b', types: ['blog'] }] },
    ],
    ['TEL;MOBILE:1', { phones: [{ value: '1', types: ['cell'] }] }],
    ['TEL;TYPE="mobile,work":1', { phones: [{ value: '1', types: ['cell', 'work'] }] }],
    ['TEL;TYPE=mobile;TYPE=cell:1', { phones: [{ value: '1', types: ['cell'] }] }],
  ])('%s', (row, expected) => {
    expect(read('3.0', row)).toMatchObject({ ...expected, custom: [] });
    for (const version of ['3.0', '4.0'] as const)
      expect(readCard(writeCard(read('3.0', row), { version }))).toMatchObject(expected);
  });

  test('a date in the properties of several programs is one date', () => {
    const rows = [
      'item1.X-ABDATE:2008-12-10',
      'item1.X-ABLabel:_$!<Anniversary>!$_',
      'item1.X-ANNIVERSARY:20081210',
      'X-EVOLUTION-ANNIVERSARY:2008-12-10',
      'ANNIVERSARY:20091210',
    ];
    const { dates } = read('3.0', ...rows);
    expect(dates).toMatchObject([{ year: 2008 }, { year: 2009 }]);
    const again = readCard(writeCard(read('3.0', ...rows), { version: '3.0' }));
    expect([again.dates, readCard(writeCard(again, { version: '3.0' })).custom]).toEqual([
      dates,
      again.custom,
    ]);
  });

  test.each([
    ['3', '3.0'],
    ['2.0', '2.1'],
    ['4.1', '4.0'],
  ])('version %s is read as %s', (version, known) => {
    const rows = ['TEL;HOME:1', 'NOTE:a\\nb', 'N;SORT-AS="Holm,Ina":Holm;Ina;;;'];
    expect(read(version, ...rows)).toEqual(read(known, ...rows));
  });

  test.each([
    ['urn:uuid:a1', 'a1', 'urn:uuid:a1'],
    [
      'urn:uuid:5AD380FD-B2DE-4261-BA99-DE1D1DB52FBE:ABPerson',
      '5AD380FD-B2DE-4261-BA99-DE1D1DB52FBE:ABPerson',
    ],
    ['urn:uuid:5ad380fd-b2de-4261-ba99-de1d1db52fbe', '5ad380fd-b2de-4261-ba99-de1d1db52fbe'],
    ['a1', 'a1', 'urn:uuid:a1'],
    ['mailto:ann@x.example', 'mailto:ann@x.example'],
    ['urn:uuid:', 'urn:uuid:'],
  ])('a member of a group of Apple, %s, is that with the uid %s', (text, uid, written = text) => {
    const group = read('3.0', 'X-ADDRESSBOOKSERVER-KIND:group', `X-ADDRESSBOOKSERVER-MEMBER:${text}`);
    expect(group).toMatchObject({ kind: 'group', members: [uid] });
    expect(read('3.0', `UID:${uid}`).uid).toBe(uid);
    const again = writeCard(group, { version: '3.0' }).replaceAll('\r\n ', '');
    expect(again).toContain(`X-ADDRESSBOOKSERVER-MEMBER:${written}\r\n`);
    expect(readCard(again).members).toEqual([uid]);
    expect(readCard(writeCard(group, { version: '4.0' })).members).toEqual([uid]);
  });

  test('the year 1604 is no year', () => {
    expect(read('3.0', 'BDAY;VALUE=date:1604-06-26').dates).toMatchObject([
      { year: null, month: 6, day: 26 },
    ]);
    expect(read('4.0', 'BDAY:16040229').dates).toMatchObject([{ year: null, month: 2, day: 29 }]);
    expect(read('3.0', 'BDAY:1984-06-26').dates).toMatchObject([{ year: 1984 }]);
    expect(read('4.0', 'ANNIVERSARY:1604').dates).toMatchObject([{ year: 1604 }]);
  });

  test.each([
    ['1984/06/26', 1984],
    ['1984.6.26', 1984],
    ['1984-6-26', 1984],
    ['1984-06-26 00:00:00', 1984],
    ['1984-06-26+02:00', 1984],
    ['26.06.1984', 1984],
    ['26. 6. 1984', 1984],
    ['26/06/1984', 1984],
    ['26-6-1984', 1984],
    ['6/26/1984', 1984],
    ['06-26-1984 00:00:00', 1984],
    ['0000-06-26', null],
    ['00000626', null],
  ])('the date %s is read', (text, year) => {
    expect(read('3.0', `BDAY:${text}`)).toMatchObject({ dates: [{ year, month: 6, day: 26 }], custom: [] });
  });

  test('a birthday that is repeated in any order is one date, and another day of it is kept as it is written', () => {
    const label = 'item1.X-ABLabel:_$!<Birthday>!$_';
    const card = (...rows: string[]) => read('3.0', ...rows);
    const again = [
      card('item1.X-ABDATE:1984-06-26', label, 'BDAY:19840626'),
      card('BDAY:19840626', 'item1.X-ABDATE:1984-06-26', label),
      card('BDAY:19840626', 'BDAY:1984-06-26'),
    ];
    for (const { dates, custom } of again)
      expect([dates.map(({ type }) => type), custom]).toEqual([['birthday'], []]);
    const other = card('BDAY:19840626', 'BDAY:19840627');
    expect([other.dates.length, other.custom]).toMatchObject([1, [{ name: 'BDAY', value: '19840627' }]]);
  });

  test('equal entries of a list within an address or a name are all kept', () => {
    const { addresses, name } = read('3.0', 'ADR:;;Kai 3;New York, New York;NY;;', 'N:Garcia,Garcia;Ana');
    expect(addresses).toMatchObject([{ locality: 'New York, New York' }]);
    expect(name).toMatchObject({ family: 'Garcia Garcia', given: 'Ana' });
  });

  test.each(['X-messaging/irc-All', 'X-GOOGLE_TALK', 'X-A+B', 'item1.X-FOO_BAR'])(
    'the property %s is kept with its parameters',
    (name) => {
      const row = `${name};X-P_Q=1:ina@chat.example`;
      const folded = `${row.slice(0, 20)}\r\n ${row.slice(20)}`;
      for (const written of [row, folded]) {
        const one = read('3.0', 'NOTE:x', written);
        expect(one.custom).toMatchObject([
          {
            name: name.replace('item1.', '').toUpperCase(),
            params: { 'X-P_Q': ['1'] },
            value: 'ina@chat.example',
          },
        ]);
        for (const version of ['3.0', '4.0'] as const)
          expect(readCard(writeCard(one, { version })).custom).toEqual(one.custom);
      }
    },
  );

  test.each(['3', '3.', '3.0', '3.00', '4.', '4.1'])('the version %s is read', (version) => {
    expect(read(version, 'N:Holm;Ina').name).toMatchObject({ given: 'Ina' });
  });

  test('a date of which both orders are one day is read', () => {
    expect(read('3.0', 'BDAY:05/05/1984').dates).toMatchObject([{ year: 1984, month: 5, day: 5 }]);
  });

  test.each([
    '6/7/1984',
    '31/06/1984',
    '13/13/1984',
    '26/06-1984',
    '1984/6.26',
    '0000',
    '1984 or so',
    '31.06.1984',
  ])('%s is no date', (text) => {
    expect(read('3.0', `BDAY:${text}`)).toMatchObject({ dates: [], custom: [{ name: 'BDAY', value: text }] });
  });

  test.each(['BDAY', 'ANNIVERSARY', 'X-EVOLUTION-ANNIVERSARY', 'item1.X-ABDATE'])(
    '%s of another calendar is not read as a Gregorian date',
    (name) => {
      const row = `${name};CALSCALE=chinese:19840626`;
      const other = read('4.0', row);
      expect(other.dates).toEqual([]);
      expect(writeCard(other, { version: '4.0' }).toUpperCase()).toContain(row.toUpperCase());
      expect(read('4.0', `${name};CALSCALE=Gregorian:19840626`).dates).toMatchObject([{ year: 1984 }]);
    },
  );

  test.each([
    ['tel:030-123456;phone-context=+49', '030-123456', null],
    ['tel:30-123456;phone-context=+49', '+4930-123456', null],
    ['tel:863-1234;phone-context=+1-914-555', '863-1234', null],
    ['tel:%2B4930123456;ext=12', '+4930123456', '12'],
    ['tel:112;phone-context=home.example', '112', null],
  ])('the number of %s is read with its context', (uri, value, extension) => {
    const [phone] = read('4.0', `TEL;VALUE=uri:${uri}`).phones;
    expect(phone).toMatchObject({ value, extension });
  });

  test('X-CUSTOM of Android is the label', () => {
    const custom = 'X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=D0=9B=D0=BE=D0=B4=D0=BA=D0=B0)';
    const { phones, emails } = read(
      '2.1',
      `TEL;${custom}:+420601000001`,
      `EMAIL;${custom}:ina@home.example`,
      'TEL;X-CUSTOM(Boat, small);CELL:+420601000002',
    );
    expect(phones.map(({ label }) => label)).toEqual(['Лодка', 'Boat, small']);
    expect(phones[1]?.types).toEqual(['cell']);
    expect(emails[0]?.label).toBe('Лодка');
  });

  test.each([
    ['folded', ['AGENT:BEGIN:VCARD', ' VERSION:3.0', ' FN:Agent', ' END:VCARD']],
    ['folded after the colon', ['AGENT:', ' BEGIN:VCARD', ' VERSION:3.0', ' FN:Agent', ' END:VCARD']],
    ['nested', ['AGENT:BEGIN:VCARD', 'VERSION:2.1', 'FN:Agent', 'END:VCARD']],
    ['nested after the colon', ['AGENT:', 'BEGIN:VCARD', 'VERSION:2.1', 'FN:Agent', 'END:VCARD']],
  ])('the card of an AGENT may be %s', async (_, agent) => {
    const text = card('3.0', ...agent, 'TEL:+420601000003') + card('3.0', 'TEL:1');
    for (const size of [1, 7, text.length]) {
      const bytes = Buffer.from(text);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_each, n) =>
        bytes.subarray(n * size, (n + 1) * size),
      );
      const found = [];
      for await (const result of readCards(chunks)) found.push(result);
      expect(found).toMatchObject([
        {
          card: { full_name: 'Ina Holm', phones: [{ value: '+420601000003' }], related: [{ name: 'Agent' }] },
        },
        { card: { full_name: 'Ina Holm', phones: [{ value: '1' }] } },
      ]);
    }
  });

  test('base64 values of unknown properties are bytes, unless the bytes are a text', () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]).toString('base64');
    const text = Buffer.from('Grüße').toString('base64');
    const found = read(
      '3.0',
      `X-MS-CARDPICTURE;TYPE=PNG;ENCODING=b:${bytes}`,
      `X-DATA;ENCODING=b:${bytes}`,
      `X-WORDS;ENCODING=b:${text}`,
    );
    expect(found.custom.map(({ value }) => value)).toEqual([
      `data:image/png;base64,${bytes}`,
      `data:;base64,${bytes}`,
      'Grüße',
    ]);
    expect(readCard(writeCard(found, { version: '3.0' })).custom).toEqual(found.custom);
  });

  test('an inline picture replaces the link of a photo, in any order', () => {
    const link = 'PHOTO;VALUE=uri:https://pictures.example/p.png';
    const inline = 'PHOTO;ENCODING=b;TYPE=PNG:iVBORw0KGgo=';
    for (const rows of [
      [link, inline],
      [inline, link],
    ]) {
      const { photo, custom } = read('3.0', ...rows);
      expect(photo).toMatchObject({ media_type: 'image/png' });
      expect(custom).toMatchObject([{ name: 'PHOTO', value: 'https://pictures.example/p.png' }]);
    }
  });

  test('a leading blank of an unknown property stays', () => {
    expect(writeCard(read('3.0', 'X-A: leading'), { version: '3.0' })).toContain('X-A: leading\r\n');
  });

  test.each(['Hello', 'Thanks!', 'R&D', '3/4'])(
    'the word %s after a line break without escape is text',
    (word) => {
      for (const version of ['2.1', '3.0', '4.0']) {
        const found = read(version, 'NOTE:first', word, ' - indented', 'TEL', ' ;TYPE=home:1');
        expect(found.notes?.replaceAll(/\s/g, '')).toBe(`first${word}-indented`);
        expect(found).toMatchObject({ custom: [], phones: [{ types: ['home'], value: '1' }] });
      }
    },
  );

  test('a line of base64 with marks continues its picture where a folded line follows', () => {
    const bytes = Buffer.from([255, 216, 255, 251, 239, 190, 251, 239, 190, 0, 1, 2]);
    const text = bytes.toString('base64');
    const found = read(
      '2.1',
      `LOGO;ENCODING=BASE64:${text.slice(0, 4)}`,
      text.slice(4, 12),
      ` ${text.slice(12)}`,
      '',
    );
    expect(text.slice(4, 12)).toContain('+');
    expect(found.custom).toMatchObject([{ name: 'LOGO', value: expect.stringContaining(text) }]);
  });
});
