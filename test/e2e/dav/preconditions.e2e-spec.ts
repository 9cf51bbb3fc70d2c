import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, hrefsOf } from '../../support/dav/dav-client.ts';

const calendarOf = (...lines: string[]): string =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Test//EN', ...lines, 'END:VCALENDAR', ''].join('\r\n');
const vevent = (uid: string, ...lines: string[]): string[] => [
  'BEGIN:VEVENT',
  `UID:${uid}`,
  'DTSTAMP:20260301T000000Z',
  ...(lines.length > 0 ? lines : ['DTSTART:20260302T090000Z', 'DTEND:20260302T100000Z']),
  'END:VEVENT',
];
const simple = (uid: string): string => calendarOf(...vevent(uid));
const card = (uid: string, name: string, more = '', version = '3.0'): string =>
  `BEGIN:VCARD\r\nVERSION:${version}\r\nUID:${uid}\r\nFN:${name}\r\nN:;${name};;;\r\n${more}END:VCARD\r\n`;

describe('preconditions of CalDAV and CardDAV', () => {
  let app: TestApp;
  let alice: TestUser;
  let client: DavClient;
  let path: string;
  let book: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    client = await DavClient.of(app, alice);
    const { body } = await alice.api.post('/calendar', { name: 'Work' });
    path = `${client.home('calendars')}${body.calendar.id}/`;
    const made = await alice.api.post('/contact/addressbooks', { name: 'Customers' });
    book = `${client.home('addressbooks')}${made.body.addressbook.id}/`;
  });
  afterAll(() => app?.stop());

  const put = async (to: string, text: string, headers: Record<string, string> = {}) => {
    const type = to.startsWith(book) ? 'text/vcard' : 'text/calendar';
    const response = await client.send('PUT', to, text, { 'content-type': type, ...headers });
    return [response.status, response.text] as const;
  };
  const conflict = (prefix: string, href: string) => [
    409,
    expect.stringContaining(
      `<${prefix}:no-uid-conflict><D:href>${href}</D:href></${prefix}:no-uid-conflict>`,
    ),
  ];

  test('an event keeps its UID, and a UID its path', async () => {
    const [one, two] = [`${path}one.ics`, `${path}two.ics`];
    await put(one, simple('one'));
    await put(two, simple('two'));
    expect(await put(one, simple('new'))).toEqual(conflict('C', one));
    expect(await put(one, simple('two'))).toEqual(conflict('C', two));
    expect(await put(`${path}three.ics`, simple('two'))).toEqual(conflict('C', two));
    expect((await client.send('GET', one)).text).toContain('UID:one');
  });

  test('a card keeps its UID, and a UID its path', async () => {
    const [one, two] = [`${book}one.vcf`, `${book}two.vcf`];
    await put(one, card('uid-one', 'One'));
    await put(two, card('uid-two', 'Two'));
    expect(await put(one, card('uid-new', 'One'))).toEqual(conflict('A', one));
    expect(await put(one, card('uid-two', 'One'))).toEqual(conflict('A', two));
    expect(await put(`${book}three.vcf`, card('uid-two', 'Three'))).toEqual(conflict('A', two));
    expect((await client.send('GET', one)).text).toContain('UID:uid-one');
    // A program that leaves the UID out does not change it.
    expect((await put(one, card('', 'One more').replace('UID:\r\n', '')))[0]).toBe(204);
    const uuid = '8d9c0a52-6a5e-4a52-9d2e-0d1b6a2f3c4d';
    await put(`${book}uuid.vcf`, card(`urn:uuid:${uuid}`, 'Uuid', '', '4.0'));
    expect((await put(`${book}uuid.vcf`, card(uuid, 'Uuid 2')))[0]).toBe(204);
  });

  test('a contact with a UID of the HTTP API is written by a program', async () => {
    const id = book.split('/').at(-2);
    const uid = 'urn:uuid:0b2d6c1e-7f3a-4f0e-8a55-3f7f3b9d1c20';
    const contact = { full_name: 'Urn', uid, external_id: 'urn' };
    expect((await alice.api.post(`/contact/addressbooks/${id}/contacts`, contact)).status).toBe(201);
    const { text } = await client.send('GET', `${book}urn.vcf`);
    expect((await put(`${book}urn.vcf`, text.replace('FN:Urn', 'FN:Urn 2')))[0]).toBe(204);
  });

  test('a text that is no single event gets the condition of the RFC', async () => {
    const todo = ['BEGIN:VTODO', 'UID:bad', 'SUMMARY:x', 'END:VTODO'];
    const resource = 'valid-calendar-object-resource';
    const cases: [string, string][] = [
      ['valid-calendar-data', 'nothing'],
      ['valid-calendar-data', calendarOf()],
      [resource, calendarOf(...vevent('bad'), ...todo)],
      [resource, calendarOf('METHOD:REQUEST', ...vevent('bad'))],
      [resource, calendarOf(...vevent('bad'), 'METHOD:PUBLISH')],
      [resource, calendarOf(...vevent('a'), ...vevent('b'))],
      [resource, simple('bad') + simple('bad')],
      ['supported-calendar-component', calendarOf(...todo)],
      ['valid-calendar-data', calendarOf(...vevent('bad', 'SUMMARY:no start'))],
    ];
    for (const [condition, text] of cases)
      expect([text, ...(await put(`${path}bad.ics`, text))]).toEqual([
        text,
        403,
        expect.stringContaining(`<C:${condition}/>`),
      ]);
    expect((await client.send('GET', `${path}bad.ics`)).status).toBe(404);
  });

  test('an end before the start is an error', async () => {
    const start = 'DTSTART;TZID=Europe/Berlin:20260302T090000';
    const ends = [
      [start, 'DTEND;TZID=Europe/Berlin:20260302T085959'],
      [start, 'DTEND;TZID=Asia/Tokyo:20260302T120000'],
      [start, 'DURATION:-PT1H'],
      ['DTSTART;VALUE=DATE:20260302', 'DTEND;VALUE=DATE:20260301'],
    ];
    for (const lines of ends) {
      const text = calendarOf(...vevent('order', ...lines));
      const expected = [403, expect.stringContaining('<C:valid-calendar-data/>')];
      expect([lines, ...(await put(`${path}order.ics`, text))]).toEqual([lines, ...expected]);
      const series = vevent('order', 'DTSTART:20260302T090000Z', 'RRULE:FREQ=DAILY');
      const instance = vevent('order', 'RECURRENCE-ID:20260303T090000Z', ...lines);
      expect(await put(`${path}order.ics`, calendarOf(...series, ...instance))).toEqual(expected);
    }
    for (const lines of [
      [start, 'DTEND;TZID=Europe/Berlin:20260302T090000'],
      [start, 'DTEND;TZID=Europe/London:20260302T083000'],
      ['DTSTART;VALUE=DATE:20260302', 'DTEND;VALUE=DATE:20260302'],
    ])
      expect((await put(`${path}order.ics`, calendarOf(...vevent('order', ...lines))))[0]).toBeLessThan(300);
  });

  test('filters that are not evaluated are errors', async () => {
    await put(
      `${path}filter.ics`,
      calendarOf(...vevent('filter', 'DTSTART:20260302T090000Z', 'SUMMARY:Éclair')),
    );
    const events = async (filter: string) => {
      const { status, text } = await client.report(
        path,
        'C:calendar-query',
        `<D:prop><D:getetag/></D:prop><C:filter><C:comp-filter name="VCALENDAR">${filter}</C:comp-filter></C:filter>`,
      );
      return [status, text] as const;
    };
    const inEvent = (filter: string) => events(`<C:comp-filter name="VEVENT">${filter}</C:comp-filter>`);
    const range = '<C:time-range start="20260301T000000Z"/>';
    const rejected = (condition: string) => [403, expect.stringContaining(`<C:${condition}`)];
    for (const filter of [
      `<C:prop-filter name="CREATED">${range}</C:prop-filter>`,
      `<C:comp-filter name="VALARM">${range}</C:comp-filter>`,
      '<C:prop-filter name="SUMMARY"><C:text-match match-type="like">a</C:text-match></C:prop-filter>',
      '<C:prop-filter name="SUMMARY"><C:other/></C:prop-filter>',
    ])
      expect([filter, ...(await inEvent(filter))]).toEqual([filter, ...rejected('supported-filter>')]);
    expect((await inEvent(`<C:prop-filter name="CREATED">${range}</C:prop-filter>`))[1]).toContain(
      '<C:supported-filter><C:prop-filter name="CREATED"/></C:supported-filter>',
    );
    expect(await events('<C:prop-filter name="VERSION"/>')).toEqual(rejected('supported-filter>'));
    const twice = '<C:comp-filter name="VEVENT"/><C:comp-filter name="VEVENT"/>';
    expect(await events(twice)).toEqual(rejected('supported-filter>'));
    const match = (collation: string) =>
      inEvent(
        `<C:prop-filter name="SUMMARY"><C:text-match collation="${collation}">clair</C:text-match></C:prop-filter>`,
      );
    expect(await match('i;klingon')).toEqual(rejected('supported-collation/>'));
    for (const collation of ['default', 'i;octet', 'i;ascii-casemap', 'i;unicode-casemap']) {
      const [status, text] = await match(collation);
      expect([collation, status, hrefsOf(text)]).toEqual([collation, 207, [`${path}filter.ics`]]);
    }
    const foreign = '<C:prop-filter name="SUMMARY"><X:hint xmlns:X="urn:x"/></C:prop-filter>';
    expect((await inEvent(foreign))[0]).toBe(207);
  });

  test('filters of contacts that are not evaluated are errors', async () => {
    const query = async (filter: string) => {
      const { status, text } = await client.report(
        book,
        'A:addressbook-query',
        `<D:prop><D:getetag/></D:prop><A:filter><A:prop-filter name="FN">${filter}</A:prop-filter></A:filter>`,
      );
      return [status, text];
    };
    expect(await query('<A:text-match collation="i;klingon">a</A:text-match>')).toEqual([
      403,
      expect.stringContaining('<A:supported-collation/>'),
    ]);
    for (const filter of [
      '<A:time-range start="20260301T000000Z"/>',
      '<A:text-match match-type="like">a</A:text-match>',
      '<A:param-filter name="TYPE"><A:time-range/></A:param-filter>',
    ])
      expect([filter, ...(await query(filter))]).toEqual([
        filter,
        403,
        expect.stringContaining('<A:supported-filter>'),
      ]);
    expect((await query('<A:text-match collation="i;octet">a</A:text-match>'))[0]).toBe(207);
  });

  test('a part of a resource is not written', async () => {
    const range = { 'content-range': 'bytes 0-9/100' };
    expect((await put(`${path}part.ics`, simple('part'), range))[0]).toBe(400);
    expect((await put(`${book}part.vcf`, card('part', 'Part'), range))[0]).toBe(400);
    expect((await client.send('GET', `${path}part.ics`)).status).toBe(404);
  });

  test('the conditions of an If header are evaluated', async () => {
    const to = `${path}if.ics`;
    const status = async (condition: string, text = simple('if')) =>
      (await put(to, text, { if: condition }))[0];
    expect(await status('(["1"])')).toBe(412);
    expect(await status('(Not ["1"])')).toBe(201);
    const etag = await client.etag(to);
    expect(await status(`([${etag}])`)).toBe(204);
    expect(await status(`(["1"]) ([${etag}])`)).toBe(204);
    expect(await status(`<${to}> ([${etag}])`)).toBe(204);
    expect(await status(`<${app.base}${to}> ([${etag}] Not <urn:uuid:a>)`)).toBe(204);
    expect(await status('(<urn:uuid:a>) (Not <DAV:no-lock>)')).toBe(204);
    for (const condition of [
      '(["1"])',
      `([W/${etag}])`,
      `([${etag}] <opaquelocktoken:1>)`,
      `(Not [${etag}])`,
      `<${path}other.ics> ([${etag}])`,
    ])
      expect([condition, await status(condition)]).toEqual([condition, 412]);
    for (const condition of ['nonsense', '()', `([${etag}]`, '<a>', '(Not)'])
      expect([condition, await status(condition)]).toEqual([condition, 400]);
    const remove = async (of: string, condition: string) =>
      (await client.send('DELETE', of, undefined, { if: condition })).status;
    expect(await remove(path, '(["1"])')).toBe(412);
    expect(await remove(to, '(["1"])')).toBe(412);
    expect((await client.send('GET', to, undefined, { if: '(["1"])' })).status).toBe(412);
    expect(await remove(to, `([${etag}])`)).toBe(204);
  });

  test('a card that a program returns in the other version of vCard changes nothing', async () => {
    const more = {
      '3.0': [
        'GEO:1.5;2.25',
        'TZ:+01:00',
        'BDAY:1980-02-03',
        'KEY;ENCODING=b;TYPE=PGP:AAECAwQF',
        'LOGO;ENCODING=b;TYPE=PNG:iVBORw0KGgo=',
        'SOUND;VALUE=uri:http://example.com/a.ogg',
        'EMAIL;TYPE=INTERNET,PREF:a@example.com',
        'TEL;TYPE=CELL,VOICE:+420601123456',
        'X-ANNIVERSARY:2001-02-03',
        'IMPP;TYPE=HOME:xmpp:a@example.com',
        'NOTE:a\\nb',
        'CLASS:PRIVATE',
        'MAILER:x',
      ],
      '4.0': [
        'GEO;VALUE=uri:geo:1.5,2.25;u=35',
        'TZ:Europe/Berlin',
        'BDAY:--0203',
        'ANNIVERSARY:20010203',
        'KEY:data:application/pgp-keys;base64,AAECAwQF',
        'LOGO:data:image/png;base64,iVBORw0KGgo=',
        'EMAIL;PREF=1:a@example.com',
        'TEL;VALUE=uri;TYPE="voice,cell":tel:+420601123456',
        'RELATED;TYPE=friend:urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
        'GENDER:F',
        'LANG:de',
        'NOTE:a\\nb',
      ],
    };
    for (const [version, lines] of Object.entries(more)) {
      const name = `both-${version}`;
      const to = `${book}${name}.vcf`;
      await put(to, card(name, 'Both', lines.map((line) => `${line}\r\n`).join(''), version));
      const etag = await client.etag(to);
      for (const accept of [
        'text/vcard; version=4.0',
        'text/vcard; version=3.0',
        'text/vcard; version=4.0',
      ]) {
        const { text } = await client.send('GET', to, undefined, { accept });
        expect((await put(to, text))[0]).toBe(204);
        expect([version, accept, await client.etag(to)]).toEqual([version, accept, etag]);
      }
      await put(to, (await client.send('GET', to)).text.replace('FN:Both', 'FN:Changed'));
      const { text } = await client.send('GET', to, undefined, { accept: 'text/vcard; version=4.0' });
      expect(text).toContain(version === '4.0' ? 'geo:1.5,2.25;u=35' : 'GEO:geo:1.5,2.25');
    }
  });
});
