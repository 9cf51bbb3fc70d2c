import { type TestUser, TestApp } from '../../support/app.ts';
import { at, defaultCalendar, instancesOf, newCalendar, newEvent } from '../../support/domains/calendars.ts';

/** The start of a series may change while its instances stay: reminders of single instances then stay too. */
describe('reminders of instances of which the series begins elsewhere', () => {
  let app: TestApp;
  let bob: TestUser;
  let bobs: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [bob] = await app.tenant('acme', 'bob');
    bobs = await defaultCalendar(bob);
  });
  afterAll(() => app?.stop());

  const send = (uid: string, ...lines: string[]) =>
    bob.api.post(`/calendar/${bobs}/scheduling/inbox`, undefined, {
      raw: [
        'BEGIN:VCALENDAR',
        'VERSION:2.0',
        'METHOD:REQUEST',
        'BEGIN:VEVENT',
        `UID:${uid}`,
        'DTSTAMP:20270101T100000Z',
        'ORGANIZER:mailto:zoe@far.example',
        'ATTENDEE:mailto:bob@acme.example',
        'SUMMARY:Course',
        ...lines,
        'END:VEVENT',
        'END:VCALENDAR',
        '',
      ].join('\r\n'),
      headers: { 'content-type': 'text/calendar; charset=utf-8' },
    });
  const times = (day: string) => [
    `DTSTART;TZID=Europe/Berlin:202703${day}T090000`,
    `DTEND;TZID=Europe/Berlin:202703${day}T100000`,
  ];
  const instance = (uid: string, day: string) =>
    send(uid, `RECURRENCE-ID;TZID=Europe/Berlin:202703${day}T090000`, ...times(day));
  const remind = async (calendar: string, id: string, day: string): Promise<void> => {
    const own = { use_default: false, overrides: [{ method: 'popup', minutes: 25 }] };
    const path = `/calendar/${calendar}/events/${id}_202703${day}T080000Z`;
    expect((await bob.api.put(path, { scope: 'this', reminders: own })).status).toBe(200);
  };
  /** The days of the instances with the reminder. */
  const reminded = async (calendar: string, uid: string): Promise<string[]> =>
    (await instancesOf(bob, calendar, '2027-03-01', '2027-03-27'))
      .filter((each) => each.uid === uid && !each.reminders.use_default)
      .map(({ start }) => start.date_time.slice(8, 10));
  const keysOf = async (id: string): Promise<string[]> => {
    const [row] = await app.sql(`SELECT instance_alarms FROM calendar_entries WHERE event_id = $1`, [id]);
    return Object.keys(row.instance_alarms);
  };

  test('an invitation to an earlier instance, then to the whole series', async () => {
    const uid = 'late@far.example';
    expect((await instance(uid, '17')).status).toBe(201);
    const [{ event_id: id }] = await app.sql(`SELECT event_id FROM calendar_entries WHERE uid = $1`, [uid]);
    await remind(bobs, id, '17');
    expect((await instance(uid, '10')).status).toBe(200);
    expect(await reminded(bobs, uid)).toEqual(['17']);
    expect((await send(uid, ...times('03'), 'RRULE:FREQ=WEEKLY;COUNT=4')).status).toBe(200);
    expect(await reminded(bobs, uid)).toEqual(['17']);
  });

  test('a series that is split before its rules keeps the added instance with its reminder', async () => {
    const calendar = await newCalendar(bob, 'Split');
    const made = await newEvent(bob, calendar, {
      title: 'Split',
      start: at('2027-03-08T09:00:00'),
      end: at('2027-03-08T10:00:00'),
      recurrence: {
        rules: ['FREQ=DAILY;COUNT=4'],
        added: [at('2027-03-05T09:00:00'), at('2027-03-06T09:00:00')],
      },
    });
    await remind(calendar, made.id, '06');
    await remind(calendar, made.id, '10');
    const path = `/calendar/${calendar}/events/${made.id}_20270308T080000Z`;
    const { body, status } = await bob.api.put(path, { scope: 'this_and_following', title: 'Rest' });
    expect(status).toBe(200);
    expect(await reminded(calendar, made.uid)).toEqual(['06']);
    expect(await reminded(calendar, body.new_event.uid)).toEqual(['10']);
    expect(await keysOf(made.id)).toEqual(['2027-03-06T09:00:00']);
  });

  test('removed later instances leave no reminder behind', async () => {
    const calendar = await newCalendar(bob, 'Removed');
    const made = await newEvent(bob, calendar, {
      title: 'Removed',
      start: at('2027-03-08T09:00:00'),
      end: at('2027-03-08T10:00:00'),
      recurrence: { rules: ['FREQ=DAILY;COUNT=4'] },
    });
    await remind(calendar, made.id, '08');
    await remind(calendar, made.id, '10');
    const path = `/calendar/${calendar}/events/${made.id}_20270309T080000Z`;
    expect((await bob.api.delete(`${path}?scope=this_and_following`)).status).toBeLessThan(300);
    expect(await keysOf(made.id)).toEqual(['2027-03-08T09:00:00']);
  });
});
