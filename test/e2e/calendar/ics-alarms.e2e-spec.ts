import { TestApp, type TestUser } from '../../support/app.ts';
import { icsFile, importFile, newCalendar, vevent } from '../../support/domains/calendars.ts';

describe('alarms of imported iCalendar events', () => {
  let app: TestApp;
  let ann: TestUser;
  let calendar: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
    calendar = await newCalendar(ann, 'Imported');
  });
  afterAll(() => app?.stop());

  const imported = async (uid: string, ...lines: string[]): Promise<any> => {
    const event = vevent(`UID:${uid}`, 'DTSTAMP:20260101T000000Z', ...lines);
    const { status, body } = await importFile(ann, calendar, icsFile(...event));
    expect(status).toBe(200);
    const [result] = body.results;
    expect(result).toMatchObject({ status: 201, error: null });
    return (await ann.api.get(`/calendar/${calendar}/events/${result.event_id}`)).body.event;
  };
  const MORNING = ['DTSTART;TZID=Europe/Berlin:20260302T090000', 'DTEND;TZID=Europe/Berlin:20260302T103000'];
  const alarm = (trigger: string, action = 'DISPLAY') => [
    'BEGIN:VALARM',
    `ACTION:${action}`,
    trigger,
    'END:VALARM',
  ];

  test.each([
    ['relative to the start', 'TRIGGER:-PT15M', MORNING, 15],
    ['relative to the end', 'TRIGGER;RELATED=END:-PT2H', MORNING, 30],
    ['relative to the end, at the start', 'TRIGGER;RELATED=END:-PT90M', MORNING, 0],
    ['relative to the end, after the start', 'TRIGGER;RELATED=END:-PT10M', MORNING, null],
    ['relative to the end, between minutes', 'TRIGGER;RELATED=END:-PT1H40M30S', MORNING, null],
    [
      'relative to the end of a series',
      'TRIGGER;RELATED=END:-PT2H',
      [...MORNING, 'RRULE:FREQ=DAILY;COUNT=3'],
      30,
    ],
    [
      'relative to the end of days',
      'TRIGGER;RELATED=END:-P3D',
      ['DTSTART;VALUE=DATE:20260302', 'DTEND;VALUE=DATE:20260304'],
      1_440,
    ],
    [
      'relative to the end, over a change of the clock',
      'TRIGGER;RELATED=END:-PT4H',
      ['DTSTART;TZID=Europe/Berlin:20260329T010000', 'DTEND;TZID=Europe/Berlin:20260329T040000'],
      120,
    ],
    ['absolute', 'TRIGGER;VALUE=DATE-TIME:20260302T073000Z', MORNING, 30],
    ['absolute, without VALUE', 'TRIGGER:20260302T073000Z', MORNING, 30],
    ['absolute, after the start', 'TRIGGER;VALUE=DATE-TIME:20260302T083000Z', MORNING, null],
    ['absolute, months before', 'TRIGGER;VALUE=DATE-TIME:20251101T083000Z', MORNING, null],
    ['absolute, without a zone', 'TRIGGER;VALUE=DATE-TIME:20260302T073000', MORNING, null],
    [
      'absolute, of a series',
      'TRIGGER;VALUE=DATE-TIME:20260302T073000Z',
      [...MORNING, 'RRULE:FREQ=DAILY;COUNT=3'],
      null,
    ],
    ['absolute, of days', 'TRIGGER;VALUE=DATE-TIME:20260301T230000Z', ['DTSTART;VALUE=DATE:20260302'], null],
    ['after the start', 'TRIGGER:PT5M', MORNING, null],
    ['in the morning of a day', 'TRIGGER:PT9H', ['DTSTART;VALUE=DATE:20260302'], null],
    ['months before', 'TRIGGER:-P60D', MORNING, null],
    ['with an invalid trigger', 'TRIGGER:soon', MORNING, null],
  ])('an alarm %s', async (name, trigger, times, minutes) => {
    const { reminders } = await imported(name, ...times, ...alarm(trigger));
    const overrides = minutes === null ? [] : [{ method: 'popup', minutes }];
    // An alarm that no reminder expresses does not state that there are none.
    expect(reminders).toMatchObject({ use_default: minutes === null, overrides });
  });

  test('an alarm of a place stands for the reminders of the calendar', async () => {
    const place = alarm('TRIGGER;VALUE=DATE-TIME:19760401T005545Z').toSpliced(
      3,
      0,
      'X-APPLE-PROXIMITY:ARRIVE',
    );
    expect((await imported('place', ...MORNING, ...place)).reminders).toEqual({
      use_default: false,
      overrides: [],
    });
  });

  test('an event has the reminders of the calendar unless it states that it has none', async () => {
    expect((await imported('bare', ...MORNING)).reminders.use_default).toBe(true);
    // Apple's "None".
    const apple = alarm('TRIGGER;VALUE=DATE-TIME:19760401T005545Z', 'NONE');
    expect((await imported('apple-none', ...MORNING, ...apple)).reminders).toEqual({
      use_default: false,
      overrides: [],
    });
    const nextReminders = await app.sql(
      `SELECT uid FROM calendar_entries WHERE uid IN ('bare', 'apple-none') AND reminders IS NULL`,
    );
    expect(nextReminders.map(({ uid }) => uid)).toEqual(['bare']);
  });
});
