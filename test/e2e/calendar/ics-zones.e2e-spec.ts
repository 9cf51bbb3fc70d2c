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
    const { results } = await imported(file(event('m', 'DTSTART:20260330T100000Z', 'DURATION:1 week')));
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

  test.each([
    ['BACKWARD', ['2029-01-31', '2029-02-28', '2029-03-31']],
    ['FORWARD', ['2029-01-31', '2029-03-01', '2029-03-31']],
  ])('SKIP=%s puts an instance where a month lacks its day', async (skip, days) => {
    const rule = `RSCALE=GREGORIAN;FREQ=MONTHLY;COUNT=3;SKIP=${skip}`;
    const { calendar } = await imported(
      file(event('s', 'DTSTART:20290131T100000Z', 'DURATION:PT1H', `RRULE:${rule}`)),
    );
    expect(await starts(calendar, '2029-01-01', '2029-12-31')).toEqual(days.map((day) => `${day}T10:00:00Z`));
    const start = { date_time: '2029-01-31T10:00:00', time_zone: 'UTC' };
    const made = await ann.api.post(`/calendar/${calendar}/events`, { title: 'x', start, rrule: rule });
    expect([made.status, made.body.event?.recurrence?.rules]).toEqual([201, [rule]]);
  });

  test.each([
    'FREQ=MONTHLY;COUNT=3;SKIP=OMIT',
    'RSCALE=GREGORIAN;FREQ=MONTHLY;COUNT=3',
    'FREQ=MONTHLY; COUNT=3',
  ])('a rule in another spelling means the plain one: %s', async (rule) => {
    const { calendar } = await imported(
      file(event('r', 'DTSTART:20290131T100000Z', 'DURATION:PT1H', `RRULE:${rule}`)),
    );
    expect(await starts(calendar, '2029-01-01', '2029-12-31')).toEqual([
      '2029-01-31T10:00:00Z',
      '2029-03-31T10:00:00Z',
      '2029-05-31T10:00:00Z',
    ]);
  });

  test.each([
    ['is missing', ''],
    ['is misspelled', 'END:VCALENDER\r\n'],
  ])('events are read when the end of the calendar %s', async (_, end) => {
    const text = file(event('e', 'DTSTART:20260715T090000Z')).replace('END:VCALENDAR\r\n', end);
    const { calendar } = await imported(text);
    expect(await starts(calendar, '2026-07-01', '2026-08-01')).toEqual(['2026-07-15T09:00:00Z']);
  });

  test.each(['X-GOOGLE-CONFERENCE', 'X-MICROSOFT-SKYPETEAMSMEETINGURL'])(
    '%s is the conference',
    async (name) => {
      const { calendar } = await imported(
        file(event('c', 'DTSTART:20260715T090000Z', `${name}:https://meet.example/room`)),
      );
      const { body } = await ann.api.get(`/calendar/${calendar}/events?uid=c`);
      expect(body.events[0].conference.url).toBe('https://meet.example/room');
    },
  );

  test('properties that repeat a field do not outlive its value', async () => {
    const repeats: Record<string, string> = {
      'X-ALT-DESC': '<p>old</p>',
      'X-APPLE-STRUCTURED-LOCATION': 'geo:48.8,2.3',
      'X-APPLE-TRAVEL-DURATION': 'PT45M',
      'X-GOOGLE-CONFERENCE': 'https://meet.example/room',
      'X-MICROSOFT-CDO-ALLDAYEVENT': 'FALSE',
      'X-OWN': 'stays',
    };
    const rows = Object.entries(repeats).map(([name, value]) => `${name}:${value}`);
    const { calendar } = await imported(
      file(event('d', 'DTSTART:20270715T090000Z', 'DTEND:20270715T100000Z', 'LOCATION:Old', ...rows)),
    );
    const path = `/calendar/${calendar}/events`;
    const { id } = (await ann.api.get(`${path}?uid=d`)).body.events[0];
    const left = async (change: object): Promise<string[]> => {
      expect((await ann.api.put(`${path}/${id}`, change)).status).toBe(200);
      const response = await fetch(`${app.base}/apis/v1/calendar/${calendar}/export.ics`, {
        headers: { authorization: `Bearer ${ann.token}` },
      });
      const text = await response.text();
      return Object.keys(repeats).filter((name) => text.includes(`\r\n${name}`));
    };
    const names = Object.keys(repeats);
    expect(await left({ title: 'y' })).toEqual(names);
    expect(await left({ description: 'new' })).toEqual(names.slice(1));
    expect(await left({ location: 'New' })).toEqual(names.slice(3));
    expect(await left({ conference: null })).toEqual(names.slice(4));
    expect(await left({ start: { date: '2027-07-16' }, end: { date: '2027-07-17' } })).toEqual(['X-OWN']);
  });

  test.each([
    [['DTSTART;TZID=Europe/Oslo:20271108T000000', 'DTEND;TZID=Europe/Oslo:20271110T000000'], true],
    [['DTSTART:20271108T000000Z', 'DTEND:20271110T000000Z'], true],
    [['DTSTART:20271108T000000', 'DURATION:P2D'], true],
    [['DTSTART:20271108T000000', 'DURATION:PT48H'], true],
    [['DTSTART:20271108T000000', 'DURATION:PT47H'], false],
    [['DTSTART;TZID=Europe/Oslo:20271108T090000', 'DTEND;TZID=Europe/Oslo:20271108T170000'], false],
  ])('days that Exchange writes as times are days: %j', async (times, allDay) => {
    const { calendar } = await imported(file(event('x', ...times, 'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE')));
    const { body } = await ann.api.get(`/calendar/${calendar}/events?uid=x`);
    const { all_day, start, end } = body.events[0];
    expect(all_day).toBe(allDay);
    if (allDay) expect([start, end]).toEqual([{ date: '2027-11-08' }, { date: '2027-11-10' }]);
  });

  test('UNTIL of days that Exchange writes as times is the day in their zone', async () => {
    const { calendar } = await imported(
      file(
        event(
          'u',
          'DTSTART;TZID=Europe/Oslo:20271108T000000',
          'DTEND;TZID=Europe/Oslo:20271109T000000',
          'RRULE:FREQ=DAILY;UNTIL=20271109T230000Z',
          'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE',
        ),
      ),
    );
    const { body } = await ann.api.get(
      `/calendar/${calendar}/instances?from=2027-11-01T00:00:00Z&to=2027-12-01T00:00:00Z`,
    );
    expect(body.instances.map(({ start }: { start: { date: string } }) => start.date)).toEqual([
      '2027-11-08',
      '2027-11-09',
      '2027-11-10',
    ]);
  });

  test('the position of an imported place ends with it', async () => {
    const { calendar } = await imported(
      file(event('g', 'DTSTART:20270715T090000Z', 'DTEND:20270715T100000Z', 'LOCATION:Old', 'GEO:48.8;2.3')),
    );
    const path = `/calendar/${calendar}/events`;
    const { id, locations } = (await ann.api.get(`${path}?uid=g`)).body.events[0];
    expect(locations).toHaveLength(1);
    expect((await ann.api.put(`${path}/${id}`, { location: 'New' })).status).toBe(200);
    expect((await ann.api.get(`${path}/${id}`)).body.event).toMatchObject({ location: 'New', locations: [] });
  });

  test('parameters and values without a field are exported as they were imported', async () => {
    const rows = [
      'CLASS:CONFIDENTIAL',
      'CONFERENCE;VALUE=URI;FEATURE=AUDIO;LABEL=Join:https://meet.example/room',
      'ATTACH;FMTTYPE=application/pdf:https://files.example/plan.pdf',
    ];
    const { calendar } = await imported(file(event('k', 'DTSTART:20270715T090000Z', ...rows)));
    const exported = async (): Promise<string[]> => {
      const response = await fetch(`${app.base}/apis/v1/calendar/${calendar}/export.ics`, {
        headers: { authorization: `Bearer ${ann.token}` },
      });
      const all = (await response.text()).replaceAll('\r\n ', '').split('\r\n');
      return all.filter((row) => /^(?:CLASS|CONFERENCE|ATTACH)/.test(row)).toSorted();
    };
    expect(await exported()).toEqual(rows.toSorted());
    const path = `/calendar/${calendar}/events`;
    const { id } = (await ann.api.get(`${path}?uid=k`)).body.events[0];
    await ann.api.put(`${path}/${id}`, { visibility: 'default', conference: null, links: [] });
    expect(await exported()).toEqual(['CLASS:PUBLIC']);
  });
});
