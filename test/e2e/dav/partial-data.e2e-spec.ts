import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, valuesOf } from '../../support/dav/dav-client.ts';
import { icsFile, vevent } from '../../support/domains/calendars.ts';

/** Parts of events, tasks and contacts that programs name (RFC 4791, 9.6; RFC 6352, 10.4). */
describe('partial data', () => {
  let app: TestApp;
  let ann: TestUser;
  let client: DavClient;
  let calendar: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
    client = await DavClient.of(app, ann);
    const made = await ann.api.post('/calendar', { name: 'Parts', time_zone: 'Europe/Berlin' });
    calendar = `${client.home('calendars')}${made.body.calendar.id}/`;
    const long =
      'A description that takes more than one line of the text, because it has more than 75 bytes of it.';
    const alarm = ['BEGIN:VALARM', 'ACTION:DISPLAY', 'DESCRIPTION:Inner', 'TRIGGER:-PT5M', 'END:VALARM'];
    const zone = ';TZID=Europe/Berlin';
    const date = (day: string, start: string, title: string) =>
      vevent(
        'UID:series',
        `RECURRENCE-ID${zone}:202806${day}T090000`,
        `DTSTART${zone}:202806${start}`,
        'DURATION:PT1H',
        `SUMMARY:${title}`,
      );
    const times = [
      `DTSTART${zone}:20280601T090000`,
      `DTEND${zone}:20280601T100000`,
      'RRULE:FREQ=DAILY;COUNT=20',
    ];
    const file = icsFile(
      ...vevent('UID:series', ...times, 'SUMMARY:Series', `DESCRIPTION:${long}`, ...alarm),
      ...date('03', '03T100000', 'Third'),
      ...date('10', '04T090000', 'Tenth on the fourth'),
      ...date('02', '12T090000', 'Second on the twelfth'),
      ...date('15', '15T100000', 'Fifteenth'),
    );
    const headers = { 'content-type': 'text/calendar' };
    expect((await client.send('PUT', `${calendar}series.ics`, file, headers)).status).toBe(201);
  });
  afterAll(() => app?.stop());

  const query = async (data: string): Promise<string> => {
    const filter = '<C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"/></C:comp-filter>';
    const content = `<D:prop>${data}</D:prop><C:filter>${filter}</C:filter>`;
    const { status, text } = await client.report(calendar, 'C:calendar-query', content);
    expect(status).toBe(207);
    return valuesOf(text, 'C:calendar-data').join('');
  };
  /** The names of the lines of a text, folded lines joined. */
  const namesIn = (text: string): string[] => [
    ...new Set(
      text
        .replaceAll(/\r\n[ \t]/g, '')
        .split('\r\n')
        .flatMap((line) => (/^(?:BEGIN|END):/.test(line) ? line : (/^[\w-]+/.exec(line)?.[0] ?? []))),
    ),
  ];
  const selected = (content: string) => query(`<C:calendar-data>${content}</C:calendar-data>`);

  test('only the named properties and components of an event are returned', async () => {
    const event = '<C:comp name="VEVENT"><C:prop name="UID"/><C:prop name="summary"/></C:comp>';
    const text = await selected(`<C:comp name="VCALENDAR"><C:prop name="VERSION"/>${event}</C:comp>`);
    const shell = [
      'BEGIN:VCALENDAR',
      'VERSION',
      'BEGIN:VEVENT',
      'UID',
      'SUMMARY',
      'END:VEVENT',
      'END:VCALENDAR',
    ];
    expect(namesIn(text)).toEqual(shell);
    // Folded lines go with the line that they continue.
    expect(text).not.toContain('more than 75 bytes');
  });

  test('a component that names nothing is whole; allprop and allcomp are all of them', async () => {
    const zone = await selected('<C:comp name="VCALENDAR"><C:comp name="VTIMEZONE"/></C:comp>');
    expect(namesIn(zone)).toEqual(
      expect.arrayContaining(['BEGIN:VTIMEZONE', 'TZID', 'BEGIN:DAYLIGHT', 'RRULE']),
    );
    expect(namesIn(zone)).not.toContain('BEGIN:VEVENT');
    expect(namesIn(zone)).not.toContain('VERSION');

    const alarms = '<C:comp name="VEVENT"><C:prop name="UID"/><C:allcomp/></C:comp>';
    const text = await selected(`<C:comp name="VCALENDAR"><C:allprop/>${alarms}</C:comp>`);
    expect(namesIn(text)).toEqual(
      expect.arrayContaining(['VERSION', 'PRODID', 'UID', 'BEGIN:VALARM', 'TRIGGER']),
    );
    for (const name of ['SUMMARY', 'RRULE', 'BEGIN:VTIMEZONE']) expect(namesIn(text)).not.toContain(name);

    const none = await selected(
      '<C:comp name="VCALENDAR"><C:comp name="VEVENT"><C:allprop/><C:comp name="X-NONE"/></C:comp></C:comp>',
    );
    expect(namesIn(none)).toEqual(expect.arrayContaining(['DESCRIPTION', 'RRULE']));
    expect(namesIn(none)).not.toContain('BEGIN:VALARM');
    expect(await selected('')).toBe(await selected('<C:comp name="VCALENDAR"/>'));
  });

  test('novalue returns the names of properties, and multiget and expand select too', async () => {
    const event =
      '<C:comp name="VEVENT"><C:prop name="UID"/><C:prop name="DESCRIPTION" novalue="yes"/></C:comp>';
    const comp = `<C:comp name="VCALENDAR">${event}</C:comp>`;
    const text = await selected(comp);
    expect(text).toContain('\r\nDESCRIPTION:\r\n');
    expect(text).toContain('\r\nUID:series\r\n');
    const { text: many } = await client.report(
      calendar,
      'C:calendar-multiget',
      `<D:prop><C:calendar-data>${comp}</C:calendar-data></D:prop><D:href>${calendar}series.ics</D:href>`,
    );
    expect(valuesOf(many, 'C:calendar-data').join('')).toBe(text);
    const window = '<C:expand start="20280605T000000Z" end="20280607T000000Z"/>';
    expect((await selected(comp + window)).match(/UID:series/g)).toHaveLength(2);
  });

  test('limit-recurrence-set leaves out instances that neither take place nor would take place in the window', async () => {
    const limited = (start: string, end: string) =>
      selected(`<C:limit-recurrence-set start="${start}" end="${end}"/>`);
    const titles = (text: string) => [...text.matchAll(/SUMMARY:([^\r]*)/g)].map(([, title]) => title);
    expect(titles(await selected(''))).toHaveLength(5);
    expect(titles(await limited('20280602T000000Z', '20280605T000000Z'))).toEqual([
      'Series',
      'Second on the twelfth',
      'Third',
      'Tenth on the fourth',
    ]);
    expect(titles(await limited('20280620T000000Z', '20280621T000000Z'))).toEqual(['Series']);
    const { status } = await client.report(
      calendar,
      'C:calendar-query',
      '<D:prop><C:calendar-data><C:limit-recurrence-set start="20280620T000000Z"/></C:calendar-data></D:prop><C:filter><C:comp-filter name="VCALENDAR"/></C:filter>',
    );
    expect(status).toBe(400);
  });

  test('contacts and tasks', async () => {
    const { addressbook } = (await ann.api.post('/contact/addressbooks', { name: 'Parts' })).body;
    const book = `${client.home('addressbooks')}${addressbook.id}/`;
    const card = [
      'BEGIN:VCARD',
      'VERSION:3.0',
      'FN:Zoe',
      'N:;Zoe;;;',
      'item1.TEL:+49 30 1',
      'NOTE:N',
      'X-ROOM:1',
      'X-ROOM/SECOND:2',
      'END:VCARD',
      '',
    ];
    await client.send('PUT', `${book}zoe.vcf`, card.join('\r\n'), { 'content-type': 'text/vcard' });
    const { text } = await client.report(
      book,
      'A:addressbook-multiget',
      `<D:prop><A:address-data><A:prop name="FN"/><A:prop name="TEL"/></A:address-data></D:prop><D:href>${book}zoe.vcf</D:href>`,
    );
    const [found] = valuesOf(text, 'A:address-data');
    expect(found).toMatch(/^BEGIN:VCARD\r\nVERSION:3.0\r\nFN[^\r]*Zoe\r\n[^\r]*TEL[^\r]*\r\nEND:VCARD\r\n$/);

    // Names of programs have further marks.
    for (const [name, row] of [
      ['X-ROOM', 'X-ROOM:1'],
      ['X-ROOM/SECOND', 'X-ROOM/SECOND:2'],
    ]) {
      const part = `<D:prop><A:address-data><A:prop name="${name}"/></A:address-data></D:prop>`;
      const { text: room } = await client.report(
        book,
        'A:addressbook-multiget',
        `${part}<D:href>${book}zoe.vcf</D:href>`,
      );
      expect(valuesOf(room, 'A:address-data')[0]?.split('\r\n').slice(2, -2)).toEqual([row]);
    }

    const { body } = await ann.api.post('/task_folders', { name: 'Parts' });
    const list = `${client.home('calendars')}${body.folder.id}/`;
    const todo = icsFile('BEGIN:VTODO', 'UID:todo', 'SUMMARY:Task', 'DESCRIPTION:D', 'END:VTODO');
    expect(
      (await client.send('PUT', `${list}todo.ics`, todo, { 'content-type': 'text/calendar' })).status,
    ).toBe(201);
    const part = '<C:comp name="VCALENDAR"><C:comp name="VTODO"><C:prop name="SUMMARY"/></C:comp></C:comp>';
    const tasks = await client.report(
      list,
      'C:calendar-multiget',
      `<D:prop><C:calendar-data>${part}</C:calendar-data></D:prop><D:href>${list}todo.ics</D:href>`,
    );
    expect(namesIn(valuesOf(tasks.text, 'C:calendar-data').join(''))).toEqual([
      'BEGIN:VCALENDAR',
      'BEGIN:VTODO',
      'SUMMARY',
      'END:VTODO',
      'END:VCALENDAR',
    ]);
  });
});
