import { TestApp, type TestUser } from '../../support/app.ts';
import { icsFile, importFile, newCalendar, vevent } from '../../support/domains/calendars.ts';

const TIMES = ['DTSTART:20270715T090000Z', 'DTEND:20270715T100000Z'];
const PLACE = ['BEGIN:VLOCATION', 'UID:place-1', 'NAME:Office', 'END:VLOCATION'];
const SPEAKER = [
  'BEGIN:PARTICIPANT',
  'UID:person-1',
  'PARTICIPANT-TYPE:SPEAKER',
  'BEGIN:VLOCATION',
  'UID:place-2',
  'NAME:Stage',
  'END:VLOCATION',
  'END:PARTICIPANT',
];
const alarm = (trigger: string) => [
  'BEGIN:VALARM',
  'ACTION:DISPLAY',
  `TRIGGER:${trigger}`,
  'DESCRIPTION:x',
  'END:VALARM',
];

describe('parts of imported events without a field', () => {
  let app: TestApp;
  let ann: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
  });
  afterAll(() => app?.stop());

  const imported = async (calendar: string, text: string): Promise<string> => {
    const { status, body } = await importFile(ann, calendar, text);
    expect([status, body.results[0].error]).toEqual([200, null]);
    return body.results[0].event_id;
  };
  const textOf = async (url: string, token?: string): Promise<string> => {
    const response = await fetch(url, token ? { headers: { authorization: `Bearer ${token}` } } : {});
    expect(response.status).toBe(200);
    return response.text();
  };
  const exportOf = (calendar: string, user = ann) =>
    textOf(`${app.base}/apis/v1/calendar/${calendar}/export.ics`, user.token);
  const rowsOf = (text: string) => text.replaceAll('\r\n ', '').split('\r\n');
  const event = (...rows: string[]) =>
    icsFile(...vevent('UID:k', 'DTSTAMP:20260101T000000Z', ...TIMES, ...rows));

  test('are exported as they were imported, also after a further import, and in a feed', async () => {
    const rows = [
      'SUMMARY:First line\\nsecond line',
      ...PLACE,
      ...SPEAKER,
      ...alarm('PT9H'),
      ...alarm('-PT15M'),
    ];
    const calendar = await newCalendar(ann, 'First');
    const id = await imported(calendar, event(...rows));
    const { body } = await ann.api.get(`/calendar/${calendar}/events/${id}`);
    expect(body.event).toMatchObject({
      title: 'First line second line',
      reminders: { overrides: [{ method: 'popup', minutes: 15 }] },
    });
    const copy = await newCalendar(ann, 'Second');
    await imported(copy, await exportOf(calendar));
    const { feed } = (await ann.api.post(`/calendar/${copy}/feeds`, { details: 'full' })).body;
    const feedText = await textOf(`${app.base}${feed.url}`);
    for (const text of [await exportOf(calendar), await exportOf(copy), feedText]) {
      expect(rowsOf(text).filter((row) => row.startsWith('SUMMARY'))).toEqual([rows[0]]);
      for (const part of [PLACE, SPEAKER]) expect(text).toContain(`\r\n${part.join('\r\n')}\r\n`);
      expect(rowsOf(text).filter((row) => row.startsWith('TRIGGER'))).toEqual([
        'TRIGGER:-PT15M',
        'TRIGGER:PT9H',
      ]);
    }
  });

  test('are dropped with the value that they repeat', async () => {
    const calendar = await newCalendar(ann, 'Changed');
    const id = await imported(calendar, event('SUMMARY:One\\ntwo', 'LOCATION:Office', ...PLACE, ...SPEAKER));
    const path = `/calendar/${calendar}/events/${id}`;
    expect((await ann.api.put(path, { title: 'Three', location: 'Hall' })).status).toBe(200);
    const rows = rowsOf(await exportOf(calendar));
    expect(rows.filter((row) => /^(?:SUMMARY|NAME|BEGIN:PARTICIPANT)/.test(row)).slice(-3)).toEqual([
      'SUMMARY:Three',
      'BEGIN:PARTICIPANT',
      'NAME:Stage',
    ]);
    expect(rows).not.toContain('UID:place-1');
  });

  test('are no colour names, which have a field', async () => {
    const calendar = await newCalendar(ann, 'Colours');
    const [named, unknown, recolored, own] = [
      ['COLOR:Turquoise'],
      ['COLOR:beautiful'],
      // A program that knows COLOR only has changed it.
      ['X-APPLE-CALENDAR-COLOR:#2f80ed', 'COLOR:red'],
      ['X-APPLE-CALENDAR-COLOR:#2F80EDFF', 'COLOR:dodgerblue'],
    ].map((rows, i) => vevent(`UID:${i}`, ...TIMES, ...rows)) as [string[], string[], string[], string[]];
    const { body } = await importFile(ann, calendar, icsFile(...named, ...unknown, ...recolored, ...own));
    const ids = body.results.map((each: { event_id: string }) => each.event_id);
    const colorOf = async (id: string) =>
      (await ann.api.get(`/calendar/${calendar}/events/${id}`)).body.event.color;
    expect(await Promise.all(ids.map(colorOf))).toEqual(['#40e0d0', null, '#ff0000', '#2f80ed']);
    const colors = (text: string) => rowsOf(text).filter((row) => /^(?:X-APPLE-CALENDAR-)?COLOR/.test(row));
    const expected = [
      'X-APPLE-CALENDAR-COLOR:#2f80ed',
      'COLOR:dodgerblue',
      'X-APPLE-CALENDAR-COLOR:#40e0d0',
      'COLOR:turquoise',
      'COLOR:beautiful',
      'X-APPLE-CALENDAR-COLOR:#ff0000',
      'COLOR:red',
      'X-APPLE-CALENDAR-COLOR:#2f80ed',
      'COLOR:dodgerblue',
    ];
    const exported = await exportOf(calendar);
    expect(colors(exported)).toEqual(expected);
    const { feed } = (await ann.api.post(`/calendar/${calendar}/feeds`, { details: 'full' })).body;
    expect(colors(await textOf(`${app.base}${feed.url}`))).toEqual(expected);
    expect((await importFile(ann, calendar, exported)).body.failed).toBe(0);
    expect(await exportOf(calendar)).toBe(exported);
    expect((await ann.api.put(`/calendar/${calendar}/events/${ids[1]}`, { color: '#00ffff' })).status).toBe(
      200,
    );
    expect(colors(await exportOf(calendar))[4]).toBe('X-APPLE-CALENDAR-COLOR:#00ffff');
    expect(colors(await exportOf(calendar))[5]).toBe('COLOR:aqua');
  });

  test('of a series are those of its instances', async () => {
    const calendar = await newCalendar(ann, 'Series');
    const series = vevent(
      'UID:s',
      ...TIMES,
      'RRULE:FREQ=DAILY;COUNT=3',
      'SUMMARY:x',
      ...SPEAKER,
      ...alarm('PT9H'),
    );
    const moved = ['RECURRENCE-ID:20270716T090000Z', 'DTSTART:20270716T110000Z', 'SUMMARY:x'];
    const instance = vevent('UID:s', ...moved, ...SPEAKER, ...alarm('PT9H'));
    await imported(calendar, icsFile(...series, ...instance));
    const own = rowsOf(await exportOf(calendar));
    expect(own.filter((row) => row === 'TRIGGER:PT9H')).toHaveLength(2);
    expect(own.filter((row) => row === 'UID:person-1')).toHaveLength(2);
  });
});
