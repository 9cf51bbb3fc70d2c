import { type TestUser, TestApp } from '../../support/app.ts';

const lines = (...list: (string | string[])[]): string => `${list.flat().join('\r\n')}\r\n`;
const file = (...parts: (string | string[])[]): string =>
  lines('BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Test//EN', ...parts, 'END:VCALENDAR');
const event = (uid: string, ...rest: string[]): string[] => [
  'BEGIN:VEVENT',
  `UID:${uid}`,
  'DTSTAMP:20260101T000000Z',
  'SUMMARY:x',
  ...rest,
  'END:VEVENT',
];
const observance = (name: string, start: string, from: string, to: string, rule?: string): string[] => [
  `BEGIN:${name}`,
  `DTSTART:${start}`,
  `TZOFFSETFROM:${from}`,
  `TZOFFSETTO:${to}`,
  ...(rule ? [`RRULE:FREQ=YEARLY;${rule}`] : []),
  `END:${name}`,
];
const zone = (tzid: string, ...observances: string[][]): string[] => [
  'BEGIN:VTIMEZONE',
  `TZID:${tzid}`,
  ...observances.flat(),
  'END:VTIMEZONE',
];
const european = (tzid: string, winter: string, summer: string): string[] =>
  zone(
    tzid,
    observance('STANDARD', '19701025T030000', summer, winter, 'BYDAY=-1SU;BYMONTH=10'),
    observance('DAYLIGHT', '19700329T020000', winter, summer, 'BYDAY=-1SU;BYMONTH=3'),
  );
const american = (tzid: string, winter: string, summer: string): string[] =>
  zone(
    tzid,
    observance('STANDARD', '19701101T020000', summer, winter, 'BYDAY=1SU;BYMONTH=11'),
    observance('DAYLIGHT', '19700308T020000', winter, summer, 'BYDAY=2SU;BYMONTH=3'),
  );
/** The rules of the United States before 2007, which no IANA zone has today. */
const plant = zone(
  'Plant clock',
  observance('STANDARD', '19701025T020000', '-0400', '-0500', 'BYDAY=-1SU;BYMONTH=10'),
  observance('DAYLIGHT', '19700405T020000', '-0500', '-0400', 'BYDAY=1SU;BYMONTH=4'),
);

describe('time zones of iCalendar files', () => {
  let app: TestApp;
  let ann: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
  });
  afterAll(() => app?.stop());

  const imported = async (text: string): Promise<{ calendar: string; results: any[] }> => {
    const made = await ann.api.post('/calendar', { name: 'x', time_zone: 'Europe/Oslo' });
    const calendar = made.body.calendar.id as string;
    const response = await fetch(`${app.base}/apis/v1/calendar/${calendar}/events/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'text/calendar' },
      body: text,
    });
    return { calendar, results: ((await response.json()) as { results: any[] }).results };
  };
  const starts = async (calendar: string, from: string, to: string): Promise<string[]> =>
    (
      await ann.api.get(`/calendar/${calendar}/instances?from=${from}&to=${to}&limit=1000`)
    ).body.instances.map(({ start_utc }: any) => start_utc);
  const july = async (...parts: (string | string[])[]): Promise<unknown> => {
    const { calendar, results } = await imported(file(...parts));
    return results[0].error?.error ?? (await starts(calendar, '2026-07-01', '2026-08-01'))[0];
  };
  const at9 = (tzid: string): string[] => event('a', `DTSTART;TZID=${tzid}:20260715T090000`, 'DURATION:PT1H');

  test.each([
    ['GMT', european('GMT', '+0000', '+0100'), '2026-07-15T08:00:00Z'],
    ['UTC', european('UTC', '+0000', '+0100'), '2026-07-15T08:00:00Z'],
    ['EST', american('EST', '-0500', '-0400'), '2026-07-15T13:00:00Z'],
    ['CET', zone('CET', observance('STANDARD', '19700101T000000', '+0100', '+0100')), '2026-07-15T08:00:00Z'],
    ['EST', [], '2026-07-15T14:00:00Z'],
    ['GMT', [], '2026-07-15T09:00:00Z'],
    // A place keeps its rules of today, whatever an old file says.
    ['Europe/Moscow', european('Europe/Moscow', '+0300', '+0400'), '2026-07-15T06:00:00Z'],
  ])('the VTIMEZONE defines the short name %s', async (tzid, definition, expected) => {
    expect(await july(definition, at9(tzid))).toBe(expected);
  });

  test('an endless series in a zone of its own stays endless, with its own times first', async () => {
    const daily = event(
      'daily',
      'DTSTART;TZID=Plant clock:20260105T090000',
      'DTEND;TZID=Plant clock:20260105T093000',
      'RRULE:FREQ=DAILY',
    );
    const { calendar, results } = await imported(file(plant, daily));
    expect(results[0].warnings.map(({ code }: any) => code)).toEqual(['time_zone_replaced']);
    // In 2026, New York changes on 8 March and the file on 5 April.
    expect(await starts(calendar, '2026-03-20', '2026-03-21')).toEqual(['2026-03-20T14:00:00Z']);
    expect(await starts(calendar, '2026-04-06', '2026-04-07')).toEqual(['2026-04-06T13:00:00Z']);
    expect(await starts(calendar, '2030-10-02', '2030-10-03')).toEqual(['2030-10-02T13:00:00Z']);
    const { body } = await ann.api.get(`/calendar/${calendar}/events?uid=daily`);
    expect([body.events[0].recurrence.rules.length, body.events[0].start.time_zone]).toEqual([
      1,
      'America/New_York',
    ]);
  });

  test('an endless change from one instance on stays endless, and a repeated import changes nothing', async () => {
    const text = file(
      event('w', 'DTSTART:20260105T090000Z', 'DURATION:PT30M', 'RRULE:FREQ=DAILY', 'EXDATE:20260203T090000Z'),
      event(
        'w',
        'RECURRENCE-ID;RANGE=THISANDFUTURE:20260201T090000Z',
        'DTSTART:20260201T110000Z',
        'DURATION:PT30M',
      ),
      event('w', 'RECURRENCE-ID:20260301T090000Z', 'DTSTART:20260301T150000Z', 'DURATION:PT30M'),
    );
    const { calendar, results } = await imported(text);
    expect(results.map(({ status }) => status)).toEqual([201, 201]);
    expect(await starts(calendar, '2026-01-31', '2026-02-05')).toEqual([
      '2026-01-31T09:00:00Z',
      '2026-02-01T11:00:00Z',
      '2026-02-02T11:00:00Z',
      '2026-02-04T11:00:00Z',
    ]);
    expect(await starts(calendar, '2026-03-01', '2026-03-02')).toEqual(['2026-03-01T15:00:00Z']);
    expect(await starts(calendar, '2033-03-01', '2033-03-02')).toEqual(['2033-03-01T11:00:00Z']);
  });

  test.each(['Customized Time Zone', 'tzone://Microsoft/Custom', '(no TZ description)'])(
    'a zone without a name is that of the calendar: %s',
    async (tzid) => {
      const { calendar, results } = await imported(file(at9(`"${tzid}"`)));
      expect(results[0].warnings.map(({ code }: any) => code)).toEqual(['time_zone_assumed']);
      expect(await starts(calendar, '2026-07-01', '2026-08-01')).toEqual(['2026-07-15T07:00:00Z']);
    },
  );

  test('a period of RDATE keeps its length', async () => {
    const { calendar } = await imported(
      file(
        event(
          'p',
          'DTSTART:20260630T100000Z',
          'DTEND:20260630T110000Z',
          'RDATE;VALUE=PERIOD:20261215T110000Z/PT2H,20261216T110000Z/20261216T140000Z',
        ),
      ),
    );
    const { body } = await ann.api.get(
      `/calendar/${calendar}/instances?from=2026-06-01&to=2027-01-01&limit=1000`,
    );
    expect(body.instances.map(({ end_utc }: any) => end_utc)).toEqual([
      '2026-06-30T11:00:00Z',
      '2026-12-15T13:00:00Z',
      '2026-12-16T14:00:00Z',
    ]);
  });

  test('days take no hourly rule', async () => {
    const days = event('d', 'DTSTART;VALUE=DATE:20270104', 'RRULE:FREQ=HOURLY;COUNT=3');
    const { results } = await imported(file(days));
    expect([results[0].status, results[0].error.error]).toEqual([422, 'invalid_rule']);
  });

  test('a malformed DURATION is ignored, with a warning', async () => {
    const { results } = await imported(file(event('m', 'DTSTART:20260330T100000Z', 'DURATION:PT1W')));
    expect([results[0].status, results[0].warnings[0].code]).toEqual([201, 'invalid_duration']);
  });

  test.each(['Europe/Kyiv', 'Asia/Kolkata', 'America/Nuuk', 'CET'])(
    'the name of a zone stays as the client sent it: %s',
    async (time_zone) => {
      const made = await ann.api.post('/calendar', { name: 'x', time_zone });
      expect(made.body.calendar.time_zone).toBe(time_zone);
      const start = { date_time: '2027-12-01T10:00:00', time_zone };
      const { body } = await ann.api.post(`/calendar/${made.body.calendar.id}/events`, { title: 'x', start });
      expect(body.event.start.time_zone).toBe(time_zone);
    },
  );
});
