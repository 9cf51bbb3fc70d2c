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

const YEAR = ['2027-01-01', '2027-12-31'] as const;

/** Series whose start, zone or later part changes. */
describe('series that move', () => {
  let app: TestApp;
  let ann: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
  });
  afterAll(() => app?.stop());

  const series = async (fields: object) => {
    const calendar = await newCalendar(ann, 'Series');
    const event = await newEvent(ann, calendar, {
      start: at('2027-01-04T09:00:00'),
      duration: 'PT1H',
      ...fields,
    });
    return { calendar, event };
  };
  const change = async ({ calendar, event }: any, fields: object) => {
    const { status, body } = await ann.api.put(eventPath(calendar, event), fields);
    return { status, ...body };
  };
  /** Starts of the instances: days, and hours on the clock of the event. */
  const starts = async (calendar: string, [from, to]: readonly [string, string] = YEAR): Promise<string[]> =>
    (await instancesOf(ann, calendar, from, to)).map(
      ({ start }) => start.date?.slice(5) ?? start.date_time.slice(5, 13),
    );
  const following = (day: string) => ({
    scope: 'this_and_following',
    recurrence_id: at(`2027-${day}T09:00:00`),
  });

  test('a split divides the COUNT of each rule; a rule that has ended stays ended', async () => {
    const rules = ['FREQ=WEEKLY;BYDAY=MO;COUNT=6', 'FREQ=WEEKLY;BYDAY=TH;COUNT=6'];
    const one = await series({ recurrence: { rules } });
    const before = await starts(one.calendar);
    expect(before).toHaveLength(11);
    await change(one, { ...following('01-18'), title: 'Later' });
    expect(await starts(one.calendar)).toEqual(before);

    const ended = await series({
      recurrence: { rules: ['FREQ=DAILY;COUNT=2', 'FREQ=WEEKLY;BYDAY=TH;UNTIL=20270301T080000Z'] },
    });
    const all = await starts(ended.calendar);
    await change(ended, { ...following('02-04'), title: 'Later' });
    expect(await starts(ended.calendar)).toEqual(all);
  });

  test('UNTIL moves with the start: every instance stays', async () => {
    const days = ['01-04', '01-05', '01-06', '01-07', '01-08'];
    const rrule = 'FREQ=DAILY;UNTIL=20270108T080000Z';
    const later = await series({ rrule });
    await change(later, { start: at('2027-01-04T11:00:00') });
    expect(await starts(later.calendar)).toEqual(days.map((day) => `${day}T11`));
    const part = await series({ rrule });
    await change(part, { ...following('01-06'), start: at('2027-01-06T11:00:00') });
    expect(await starts(part.calendar)).toEqual(days.map((day, n) => `${day}T${n < 2 ? '09' : '11'}`));
    const zoned = await series({ rrule });
    await change(zoned, { start: at('2027-01-04T09:00:00', 'America/New_York') });
    expect(await starts(zoned.calendar)).toEqual(days.map((day) => `${day}T09`));
    const weekly = await series({ rrule: 'FREQ=WEEKLY;UNTIL=20270125T080000Z' });
    await change(weekly, { start: at('2027-01-05T09:00:00') });
    expect(await starts(weekly.calendar)).toEqual(['01-05T09', '01-12T09', '01-19T09', '01-26T09']);
    const dated = await series({ rrule: 'FREQ=DAILY;UNTIL=20270106', start: at('2027-01-04T23:00:00') });
    await change(dated, { start: at('2027-01-05T01:00:00') });
    expect(await starts(dated.calendar)).toEqual(['01-05T01', '01-06T01', '01-07T01']);
    const earlier = await series({ rrule: 'FREQ=DAILY;UNTIL=20270106T080000Z' });
    await change(earlier, { start: at('2027-01-04T07:00:00') });
    expect(await starts(earlier.calendar)).toEqual(['01-04T07', '01-05T07', '01-06T07']);
    const whole = await series({ rrule: 'FREQ=DAILY;UNTIL=20270106T080000Z' });
    const made = await change(whole, { start: { date: '2027-01-04' }, end: { date: '2027-01-05' } });
    expect(made.event.recurrence.rules).toEqual(['FREQ=DAILY;UNTIL=20270106']);
    expect(await starts(whole.calendar)).toEqual(['01-04', '01-05', '01-06']);
    await change(whole, { start: at('2027-01-04T09:00:00'), duration: 'PT1H' });
    expect(await starts(whole.calendar)).toEqual(['01-04T09', '01-05T09', '01-06T09']);
  });

  test('UNTIL stays where a request changes the end only, or states the rule', async () => {
    const rrule = 'FREQ=DAILY;UNTIL=20270106T080000Z';
    const one = await series({ rrule });
    const longer = await change(one, { duration: 'PT2H' });
    expect(longer.event.recurrence.rules).toEqual([rrule]);
    const stated = await change(one, { start: at('2027-01-04T11:00:00'), rrule });
    expect(stated.event.recurrence.rules).toEqual([rrule]);
  });

  test('days that the rule names move with the start, of the whole series and of a later part', async () => {
    const rrule = 'FREQ=WEEKLY;BYDAY=MO;COUNT=5';
    const tuesdays = ['01-05T09', '01-12T09', '01-19T09', '01-26T09', '02-02T09'];
    const all = await series({ rrule });
    await change(all, {
      scope: 'all',
      recurrence_id: at('2027-01-11T09:00:00'),
      start: at('2027-01-12T09:00:00'),
    });
    expect(await starts(all.calendar)).toEqual(tuesdays);
    const whole = await series({ rrule });
    await change(whole, { start: at('2027-01-05T09:00:00') });
    expect(await starts(whole.calendar)).toEqual(tuesdays);
    const part = await series({ rrule });
    await change(part, { ...following('01-18'), start: at('2027-01-19T09:00:00') });
    expect(await starts(part.calendar)).toEqual(['01-04T09', '01-11T09', '01-19T09', '01-26T09', '02-02T09']);
    const monthly = await series({ rrule: 'FREQ=MONTHLY;BYMONTHDAY=4;COUNT=3' });
    await change(monthly, { start: at('2027-01-05T09:00:00') });
    expect(await starts(monthly.calendar)).toEqual(['01-05T09', '02-05T09', '03-05T09']);
  });

  test('a changed instance and an excluded one keep their place in the moved series', async () => {
    const one = await series({ rrule: 'FREQ=WEEKLY;BYDAY=MO,TH;COUNT=6' });
    await change(one, { scope: 'this', recurrence_id: at('2027-01-11T09:00:00'), title: 'Special' });
    await ann.api.delete(
      `${eventPath(one.calendar, one.event)}?scope=this&recurrence_id=2027-01-14T09:00:00`,
    );
    await change(one, { start: at('2027-01-05T10:00:00') });
    expect(
      (await instancesOf(ann, one.calendar, ...YEAR)).map(({ start, title }) => [start.date_time, title]),
    ).toEqual([
      ['2027-01-05T10:00:00', ''],
      ['2027-01-08T10:00:00', ''],
      ['2027-01-12T10:00:00', 'Special'],
      ['2027-01-19T10:00:00', ''],
      ['2027-01-22T10:00:00', ''],
    ]);
  });

  test.each([
    ['FREQ=MONTHLY;BYDAY=1MO;COUNT=3', at('2027-01-05T09:00:00')],
    ['FREQ=YEARLY;BYMONTH=1,7;BYDAY=MO;COUNT=3', at('2027-01-05T09:00:00')],
    ['FREQ=DAILY;BYHOUR=9,23;COUNT=3', at('2027-01-04T11:00:00')],
  ])('%s does not move: the request needs the new rule', async (rrule, start) => {
    const one = await series({ rrule });
    const before = await starts(one.calendar);
    for (const more of [{}, { scope: 'all', recurrence_id: at('2027-01-04T09:00:00') }])
      expect(await change(one, { start, ...more })).toMatchObject({
        status: 422,
        error: 'rule_not_moved',
        details: [{ field: 'recurrence.rules', code: 'rule_not_moved' }],
      });
    expect(await starts(one.calendar)).toEqual(before);
    const stated = await change(one, { start, rrule: 'FREQ=DAILY;COUNT=2' });
    expect([stated.status, stated.event.recurrence.rules]).toEqual([200, ['FREQ=DAILY;COUNT=2']]);
  });

  test('an import of THISANDFUTURE over many instances moves UNTIL and weeks of the later part', async () => {
    const file = async (master: string[], range: string[]): Promise<string> => {
      const calendar = await newCalendar(ann, 'Range');
      const reply = await importFile(
        ann,
        calendar,
        icsFile(
          ...vevent('UID:range', 'DTSTAMP:20260101T000000Z', 'DURATION:PT1H', ...master),
          ...vevent('UID:range', 'DTSTAMP:20260101T000000Z', 'DURATION:PT1H', ...range),
        ),
      );
      expect(reply.body.results.map(({ error }: any) => error)).toEqual([null, null]);
      return calendar;
    };
    const daily = await file(
      ['DTSTART:20270101T090000Z', 'RRULE:FREQ=DAILY;UNTIL=20310110T090000Z'],
      ['RECURRENCE-ID;RANGE=THISANDFUTURE:20270601T090000Z', 'DTSTART:20270601T110000Z'],
    );
    expect(await starts(daily, ['2031-01-09', '2031-02-01'])).toEqual(['01-09T11', '01-10T11']);
    const weekly = await file(
      ['DTSTART:20270104T090000Z', 'RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU'],
      ['RECURRENCE-ID;RANGE=THISANDFUTURE:20270118T090000Z', 'DTSTART:20270119T090000Z'],
    );
    expect(await starts(weekly, ['2027-01-04', '2027-02-20'])).toEqual([
      '01-04T09',
      '01-10T09',
      '01-19T09',
      '01-25T09',
      '02-02T09',
      '02-08T09',
      '02-16T09',
    ]);
  });

  const exchange = (uid: string, ...lines: string[]): string[] =>
    vevent(`UID:${uid}`, 'DTSTAMP:20260101T000000Z', 'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE', ...lines);
  const berlinDay = (day: string, next: string): string[] => [
    `DTSTART;TZID=Europe/Berlin:${day}T000000`,
    `DTEND;TZID=Europe/Berlin:${next}T000000`,
  ];

  test('exceptions in UTC of days that Exchange writes as times are days on the clock of the series', async () => {
    const calendar = await newCalendar(ann, 'Exchange');
    const master = exchange(
      'days',
      ...berlinDay('20271108', '20271109'),
      'RRULE:FREQ=WEEKLY;COUNT=5',
      'EXDATE:20271114T230000Z',
    );
    const instance = exchange(
      'days',
      'RECURRENCE-ID:20271121T230000Z',
      'SUMMARY:Moved',
      ...berlinDay('20271124', '20271125'),
    );
    await importFile(ann, calendar, icsFile(...master, ...instance));
    const days = async () =>
      (await instancesOf(ann, calendar, ...YEAR)).map(({ start, title }) => [start.date.slice(5), title]);
    expect(await days()).toEqual([
      ['11-08', ''],
      ['11-24', 'Moved'],
      ['11-29', ''],
      ['12-06', ''],
    ]);
    // A later file has one instance of the stored series.
    const other = exchange(
      'days',
      'RECURRENCE-ID:20271128T230000Z',
      'SUMMARY:Later',
      ...berlinDay('20271201', '20271202'),
    );
    await importFile(ann, calendar, icsFile(...other));
    expect(await days()).toEqual([
      ['11-08', ''],
      ['11-24', 'Moved'],
      ['12-01', 'Later'],
      ['12-06', ''],
    ]);
  });

  test('an instance of days that a program names by midnight is the day that it writes', async () => {
    const calendar = await newCalendar(ann, 'Midnights');
    const days = (...lines: string[]): string[] =>
      vevent('UID:midnights', 'DTSTAMP:20260101T000000Z', ...lines);
    const master = days('DTSTART;VALUE=DATE:20270104', 'RRULE:FREQ=DAILY;COUNT=3');
    const moved = (id: string) => days(id, 'DTSTART;TZID=America/New_York:20270110T100000', 'DURATION:PT1H');
    const ids = ['RECURRENCE-ID:20270105T000000Z', 'RECURRENCE-ID;TZID=Europe/Berlin:20270106T000000'];
    await importFile(ann, calendar, icsFile(...master, ...ids.flatMap(moved)));
    expect(await starts(calendar)).toEqual(['01-04', '01-10T10', '01-10T10']);
  });

  test('a message cancels the day that it names in UTC', async () => {
    const calendar = await newCalendar(ann, 'Messages');
    const organizer = ['ORGANIZER:mailto:kim@outside.example', `ATTENDEE:mailto:${ann.email}`];
    const send = async (method: string, ...events: string[]) =>
      (
        await ann.api.post(`/calendar/${calendar}/scheduling/inbox`, {
          ics: icsFile('PRODID:-//Outside//EN', `METHOD:${method}`, ...events),
        })
      ).body;
    await send(
      'REQUEST',
      ...exchange(
        'mailed',
        ...organizer,
        'SEQUENCE:0',
        ...berlinDay('20270306', '20270307'),
        'RRULE:FREQ=DAILY;COUNT=3',
      ),
    );
    expect(await starts(calendar)).toEqual(['03-06', '03-07', '03-08']);
    const named = exchange(
      'mailed',
      ...organizer,
      'SEQUENCE:1',
      'RECURRENCE-ID:20270306T230000Z',
      ...berlinDay('20270307', '20270308'),
    );
    await send('CANCEL', ...named);
    expect(await starts(calendar)).toEqual(['03-06', '03-08']);
  });

  test('exceptions in UTC of a long series in a zone of its file name the times of that zone', async () => {
    const calendar = await newCalendar(ann, 'Plant');
    const observance = (name: string, from: string, to: string, start: string, rule: string): string[] => [
      `BEGIN:${name}`,
      `DTSTART:${start}`,
      `TZOFFSETFROM:${from}`,
      `TZOFFSETTO:${to}`,
      `RRULE:FREQ=YEARLY;${rule}`,
      `END:${name}`,
    ];
    const zoneOf = (tzid: string, winter: [string, string], summer: [string, string]): string[] => [
      'BEGIN:VTIMEZONE',
      `TZID:${tzid}`,
      ...observance('STANDARD', '-0400', '-0500', ...winter),
      ...observance('DAYLIGHT', '-0500', '-0400', ...summer),
      'END:VTIMEZONE',
    ];
    const zone = zoneOf(
      'Plant',
      ['19701025T020000', 'BYDAY=-1SU;BYMONTH=10'],
      ['19700405T020000', 'BYDAY=1SU;BYMONTH=4'],
    );
    const plant = (...lines: string[]): string[] =>
      vevent('UID:plant', 'DTSTAMP:20260101T000000Z', 'DURATION:PT1H', ...lines);
    const master = plant(
      'DTSTART;TZID=Plant:20270105T090000',
      'RRULE:FREQ=DAILY',
      'EXDATE:20270320T140000Z',
      'EXDATE;TZID=America/New_York:20270324T100000',
      'EXDATE:20270702T130000Z',
    );
    const moved = plant('RECURRENCE-ID:20270322T140000Z', 'DTSTART:20270322T180000Z');
    await importFile(ann, calendar, icsFile(...zone, ...master, ...moved));
    const utc = async (from: string, to: string) =>
      (await instancesOf(ann, calendar, from, to)).map(({ start_utc }) => start_utc);
    const march = [
      '2027-03-19T14:00:00Z',
      '2027-03-21T14:00:00Z',
      '2027-03-22T18:00:00Z',
      '2027-03-23T14:00:00Z',
    ];
    expect(await utc('2027-03-19', '2027-03-25')).toEqual(march);
    expect(await utc('2027-07-01', '2027-07-04')).toEqual(['2027-07-01T13:00:00Z', '2027-07-03T13:00:00Z']);
    // A later file has one instance of the stored series.
    const alone = plant('RECURRENCE-ID:20270321T140000Z', 'DTSTART;TZID=Plant:20270321T160000');
    await importFile(ann, calendar, icsFile(...zone, ...alone));
    expect(await utc('2027-03-21', '2027-03-22')).toEqual(['2027-03-21T21:00:00Z']);
    // Its summer is longer than that of any place, so its last instance is earlier than on the clock of the nearest one.
    const long = zoneOf(
      'Long summer',
      ['19701120T020000', 'BYMONTH=11;BYMONTHDAY=20'],
      ['19700301T020000', 'BYMONTH=3;BYMONTHDAY=1'],
    );
    const ended = vevent(
      'UID:ended',
      'DTSTAMP:20260101T000000Z',
      'DURATION:PT1H',
      'DTSTART;TZID=Long summer:20280105T090000',
      'RRULE:FREQ=DAILY;UNTIL=20310305T130000Z',
    );
    const other = await newCalendar(ann, 'Long summer');
    await importFile(ann, other, icsFile(...long, ...ended));
    expect(await starts(other, ['2031-03-04', '2031-04-01'])).toEqual(['03-04T09', '03-05T09']);
  });

  test('a calendar whose events another one has already is not merged into it', async () => {
    const [from, into] = [await newCalendar(ann, 'From'), await newCalendar(ann, 'Into')];
    const own = await newEvent(ann, from, { title: 'Edited', uid: 'twice', start: '2027-03-02' });
    const copy = await newEvent(ann, into, { title: 'Old copy', uid: 'twice', start: '2027-03-02' });
    const reply = await ann.api.delete(`/calendar/${from}?move_events_to=${into}`);
    expect([reply.status, reply.body.error, reply.body.event?.id]).toEqual([409, 'duplicate_uid', copy.id]);
    expect((await ann.api.get(eventPath(from, own))).body.event.title).toBe('Edited');
    await ann.api.delete(eventPath(into, copy));
    expect((await ann.api.delete(`/calendar/${from}?move_events_to=${into}`)).status).toBe(200);
    expect((await ann.api.get(eventPath(into, own))).body.event.title).toBe('Edited');
  });
});
