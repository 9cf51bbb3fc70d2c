import { type TestUser, TestApp } from '../../support/app.ts';
import {
  at,
  eventPath,
  icsFile,
  importFile,
  instancesOf,
  newCalendar,
  newEvent,
  vevent,
} from '../../support/domains/calendars.ts';

/** Berlin has no 02:30 on this day: the instance of 02:30 is shown at 03:30. */
const GAP = '2029-03-25';
const INSTANT = `${GAP}T01:30:00Z`;

describe('an instance in the gap of a clock change', () => {
  let app: TestApp;
  let ann: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
  });
  afterAll(() => app?.stop());

  const create = async (fields: object = {}) => {
    const calendar = await newCalendar(ann, 'Gaps');
    const start = at('2029-03-18T02:30:00');
    const event = await newEvent(ann, calendar, {
      start,
      duration: 'PT1H',
      recurrence: { rules: ['FREQ=WEEKLY;COUNT=3'] },
      ...fields,
    });
    return { calendar, event, path: eventPath(calendar, event) };
  };
  const startsOf = async (calendar: string, from: string, to: string): Promise<string[]> =>
    (await instancesOf(ann, calendar, from, to)).map(({ start }) => start.date_time.slice(5, 16));
  const starts = (calendar: string) => startsOf(calendar, '2029-03-01', '2029-05-01');

  const NAMES: [string, unknown][] = [
    ['its nominal time', `${GAP}T02:30:00`],
    ['its nominal time with the zone', at(`${GAP}T02:30:00`)],
    ['the time that is shown', `${GAP}T03:30:00`],
    ['the time that is shown, with the zone', at(`${GAP}T03:30:00`)],
    ['UTC', INSTANT],
    ['an offset', `${GAP}T02:30:00+01:00`],
  ];

  describe('moves the rest of its series exactly as the request states', () => {
    const ALL: [string, object, string[]][] = [
      ['a time', { start: at(`${GAP}T09:00:00`) }, ['03-25T09:00', '04-01T09:00']],
      ['UTC', { start: `${GAP}T07:00:00Z` }, ['03-25T09:00', '04-01T09:00']],
      ['another day', { start: at('2029-03-26T03:30:00') }, ['03-26T03:30', '04-02T03:30']],
      [
        'a start and an end',
        { start: at(`${GAP}T09:00:00`), end: at(`${GAP}T10:30:00`) },
        ['03-25T09:00', '04-01T09:00'],
      ],
      [
        'a repeat of the time that is shown',
        { start: at(`${GAP}T03:30:00`) },
        ['03-25T03:30', '04-01T02:30'],
      ],
      ['a repeat in UTC', { start: INSTANT, title: 'Later' }, ['03-25T03:30', '04-01T02:30']],
      ['a longer duration', { duration: 'PT2H' }, ['03-25T03:30', '04-01T02:30']],
    ];
    test.each(ALL)('%s', async (_, fields, expected) => {
      const { calendar, path } = await create();
      const request = { scope: 'this_and_following', recurrence_id: INSTANT, ...fields };
      expect((await ann.api.put(path, request)).status).toBe(200);
      expect(await starts(calendar)).toEqual(['03-18T02:30', ...expected]);
    });

    test('of the whole series', async () => {
      const { calendar, path } = await create();
      const request = { scope: 'all', recurrence_id: INSTANT, start: at(`${GAP}T09:00:00`) };
      expect((await ann.api.put(path, request)).status).toBe(200);
      expect(await starts(calendar)).toEqual(['03-18T09:00', '03-25T09:00', '04-01T09:00']);
    });

    test('into the gap', async () => {
      const { calendar, path } = await create({ start: at('2029-03-18T03:30:00') });
      const request = { scope: 'all', recurrence_id: INSTANT, start: at(`${GAP}T02:30:00`) };
      expect((await ann.api.put(path, request)).status).toBe(200);
      expect(await starts(calendar)).toEqual(['03-18T02:30', '03-25T03:30', '04-01T02:30']);
    });

    test('at a midnight that does not exist', async () => {
      const zone = 'Africa/Cairo';
      const { calendar, path } = await create({
        start: at('2029-04-26T00:00:00', zone),
        recurrence: { rules: ['FREQ=DAILY;COUNT=3'] },
      });
      const request = {
        scope: 'this_and_following',
        recurrence_id: at('2029-04-27T00:00:00', zone),
        start: at('2029-04-27T08:00:00', zone),
      };
      expect((await ann.api.put(path, request)).status).toBe(200);
      const found = await startsOf(calendar, '2029-04-20', '2029-05-01');
      expect(found).toEqual(['04-26T00:00', '04-27T08:00', '04-28T08:00']);
    });
  });

  test.each(NAMES)('is excluded by %s', async (_, name) => {
    const { calendar, event } = await create({
      recurrence: { rules: ['FREQ=WEEKLY;COUNT=3'], excluded: [name] },
    });
    expect(await starts(calendar)).toEqual(['03-18T02:30', '04-01T02:30']);
    expect(event.recurrence.excluded).toEqual([at(`${GAP}T02:30:00`)]);
  });

  test('stays deleted, and stays an added date, when a request repeats the recurrence', async () => {
    const { calendar, path } = await create();
    expect((await ann.api.delete(`${path}?recurrence_id=${INSTANT}`)).status).toBe(200);
    const { recurrence } = (await ann.api.get(path)).body.event;
    expect((await ann.api.put(path, { recurrence })).status).toBe(200);
    expect(await starts(calendar)).toEqual(['03-18T02:30', '04-01T02:30']);
    const dated = await create({ recurrence: { added: [at(`${GAP}T02:30:00`)] } });
    expect(dated.event.recurrence.added).toEqual([at(`${GAP}T02:30:00`)]);
    const again = await ann.api.put(dated.path, { recurrence: dated.event.recurrence });
    expect(again.body.event.recurrence).toEqual(dated.event.recurrence);
  });

  test.each(NAMES)('is named in requests by %s', async (_, recurrence_id) => {
    const { path } = await create();
    const changed = await ann.api.put(path, { recurrence_id, title: 'Changed' });
    expect([changed.status, changed.body.event?.title]).toEqual([200, 'Changed']);
    if (typeof recurrence_id === 'string') {
      const { status, body } = await ann.api.get(
        `${path}?recurrence_id=${encodeURIComponent(recurrence_id)}`,
      );
      expect([status, body.event?.title]).toEqual([200, 'Changed']);
    }
    expect((await ann.api.delete(path, { recurrence_id })).status).toBe(200);
    expect((await ann.api.put(path, { recurrence_id, title: 'Gone' })).status).toBe(422);
  });

  test.each([
    ['Europe/Berlin', '20260328T023000', 'EXDATE:20260329T013000Z', '03-29'],
    ['Europe/Berlin', '20260328T023000', 'EXDATE;TZID=Europe/Berlin:20260329T033000', '03-29'],
    ['Europe/Berlin', '20260328T023000', 'EXDATE;TZID=Europe/Berlin:20260329T023000', '03-29'],
    ['Europe/Berlin', '20260328T023000', 'EXDATE;VALUE=DATE:20260329', '03-29'],
    ['America/New_York', '20260307T023000', 'EXDATE:20260308T073000Z', '03-08'],
    ['Africa/Cairo', '20290426T000000', 'EXDATE:20290426T220000Z', '04-27'],
    ['America/Santiago', '20290901T000000', 'EXDATE:20290902T040000Z', '09-02'],
    ['America/Santiago', '20290901T003000', 'EXDATE;TZID=America/Santiago:20290902T000000', '09-02'],
  ])('of a file in %s from %s is excluded by %s', async (zone, start, exdate, day) => {
    const calendar = await newCalendar(ann, 'File');
    const file = icsFile(
      ...vevent(
        'UID:gap',
        'DTSTAMP:20260101T000000Z',
        `DTSTART;TZID=${zone}:${start}`,
        'DURATION:PT1H',
        'RRULE:FREQ=DAILY;COUNT=3',
        exdate,
      ),
    );
    expect((await importFile(ann, calendar, file)).status).toBe(200);
    const year = start.slice(0, 4);
    const days = (await startsOf(calendar, `${year}-01-01`, `${year}-12-01`)).map((text) => text.slice(0, 5));
    expect(days).toHaveLength(2);
    expect(days).not.toContain(day);
  });

  test('of a zone that only the file describes is excluded by UTC', async () => {
    const calendar = await newCalendar(ann, 'File');
    const part = (name: string, from: string, to: string, month: number) => [
      `BEGIN:${name}`,
      `DTSTART:20200101T020000`,
      `RRULE:FREQ=YEARLY;BYMONTH=${month};BYDAY=3SA`,
      `TZOFFSETFROM:${from}`,
      `TZOFFSETTO:${to}`,
      `END:${name}`,
    ];
    const file = icsFile(
      'BEGIN:VTIMEZONE',
      'TZID:Own',
      ...part('DAYLIGHT', '+0117', '+0217', 5),
      ...part('STANDARD', '+0217', '+0117', 10),
      'END:VTIMEZONE',
      ...vevent(
        'UID:own',
        'DTSTAMP:20260101T000000Z',
        'DTSTART;TZID=Own:20260515T023000',
        'DURATION:PT1H',
        'RRULE:FREQ=DAILY;COUNT=3',
        'EXDATE:20260516T011300Z',
      ),
    );
    expect((await importFile(ann, calendar, file)).status).toBe(200);
    expect(await startsOf(calendar, '2026-05-01', '2026-06-01')).toEqual(['05-15T01:13', '05-17T00:13']);
  });
});
