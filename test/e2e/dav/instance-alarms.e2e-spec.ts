import { Outbox } from '../../../src/platform/events/outbox.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient } from '../../support/dav/dav-client.ts';
import {
  at,
  defaultCalendar,
  icsFile,
  importFile,
  instancesOf,
  newCalendar,
  newEvent,
  vevent,
} from '../../support/domains/calendars.ts';

const ICS = { 'content-type': 'text/calendar' };

/** Instances of a series that have other alarms than the series: programs write them when a user snoozes, changes or removes an alarm. */
describe('alarms of the instances of a series', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let anns: DavClient;
  let bobs: DavClient;
  let calendar: string;
  let clock: { tick(now?: Date): Promise<number> };
  const reported: any[] = [];

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    [anns, bobs] = [await DavClient.of(app, ann), await DavClient.of(app, bob)];
    calendar = await newCalendar(ann, 'Alarms');
    const { ReminderClock } = await import('../../../src/modules/calendar/reminders/reminder-clock.js');
    clock = app.get(ReminderClock);
    app
      .get(Outbox)
      .subscribe('calendar.reminder.due', 'test', async ({ payload }) => void reported.push(payload));
  });
  afterAll(() => app?.stop());

  const alarm = (...lines: string[]) => ['BEGIN:VALARM', ...lines, 'END:VALARM'];
  const ringing = (trigger: string, ...lines: string[]) =>
    alarm('ACTION:DISPLAY', 'DESCRIPTION:x', `TRIGGER:${trigger}`, ...lines);
  const series = (uid: string, ...lines: string[]) =>
    vevent(
      `UID:${uid}`,
      'DTSTAMP:20260101T000000Z',
      'SUMMARY:Course',
      'DTSTART;TZID=Europe/Berlin:20300107T090000',
      'DTEND;TZID=Europe/Berlin:20300107T100000',
      'RRULE:FREQ=DAILY;COUNT=6',
      ...lines,
    );
  /** The instance of a day in January. */
  const instance = (uid: string, day: string, ...lines: string[]) =>
    vevent(
      `UID:${uid}`,
      'DTSTAMP:20260101T000000Z',
      `RECURRENCE-ID;TZID=Europe/Berlin:203001${day}T090000`,
      `DTSTART;TZID=Europe/Berlin:203001${day}T090000`,
      `DTEND;TZID=Europe/Berlin:203001${day}T100000`,
      'SUMMARY:Course',
      ...lines,
    );
  const pathOf = (client: DavClient, id: string, uid: string) =>
    `${client.home('calendars')}${id}/${uid}.ics`;
  const put = async (uid: string, ...lines: string[]) =>
    (await anns.send('PUT', pathOf(anns, calendar, uid), icsFile(...lines), ICS)).status;
  const read = async (client: DavClient, path: string): Promise<string> =>
    (await client.send('GET', path)).text.replaceAll('\r\n ', '');
  /** The triggers of the alarms of each component of a text, by the day of its RECURRENCE-ID. */
  const triggersOf = (text: string): Record<string, string[]> =>
    Object.fromEntries(
      text
        .split('BEGIN:VEVENT')
        .slice(1)
        .map((each) => [
          /RECURRENCE-ID[^:]*:\d{6}(\d\d)/.exec(each)?.[1] ?? 'series',
          [...each.matchAll(/^TRIGGER[^:]*:(.*?)\r?$/gm)].map(([, value]) => value as string).toSorted(),
        ]),
    );
  /** The reminders of the instances in minutes, by day. */
  const shown = async (uid: string, user = ann, id = calendar): Promise<Record<string, number[] | null>> =>
    Object.fromEntries(
      (await instancesOf(user, id, '2030-01-01', '2030-02-01'))
        .filter((each) => each.uid === uid)
        .map(({ start, reminders }) => [
          start.date_time.slice(8, 10),
          reminders.use_default ? null : reminders.overrides.map(({ minutes }: any) => minutes).toSorted(),
        ]),
    );
  const exported = async () =>
    (await ann.api.get(`/calendar/${calendar}/export.ics`)).text.replaceAll('\r\n ', '');

  const OWN = (uid: string) => [
    ...series(uid, ...ringing('-PT15M'), ...ringing('-PT1H')),
    ...instance(uid, '08', ...ringing('-PT5M')),
    ...instance(uid, '09'),
    ...instance(uid, '10', 'LOCATION:Hall', ...ringing('-PT15M'), ...ringing('-PT1H')),
    ...instance(uid, '11', ...ringing('-PT15M'), ...ringing('PT10M')),
  ];
  const TRIGGERS = {
    series: ['-PT15M', '-PT1H'],
    '08': ['-PT5M'],
    '09': [],
    '10': ['-PT15M', '-PT1H'],
    '11': ['-PT15M', 'PT10M'],
  };
  const MINUTES = { '07': [15, 60], '08': [5], '09': [], '10': [15, 60], '11': [15], '12': [15, 60] };

  test('are read from a file, shown, and exported', async () => {
    const { body } = await importFile(ann, calendar, icsFile(...OWN('imported')));
    expect(body.results).toMatchObject([{ status: 201, warnings: [] }]);
    expect(await shown('imported')).toEqual(MINUTES);
    const { event_id: id } = body.results[0];
    const one = await ann.api.get(`/calendar/${calendar}/events/${id}_20300108T080000Z`);
    expect(one.body.event.reminders).toEqual({
      use_default: false,
      overrides: [{ method: 'popup', minutes: 5 }],
    });
    const text = await exported();
    const own = text.split('BEGIN:VEVENT').filter((each) => each.includes('UID:imported'));
    expect(triggersOf(['', ...own].join('BEGIN:VEVENT'))).toEqual(TRIGGERS);
    const again = await importFile(ann, calendar, text);
    expect(again.body.failed).toBe(0);
    expect(await shown('imported')).toEqual(MINUTES);
  });

  test('are stored as a CalDAV program writes them, and stay when it writes what it has read', async () => {
    expect(await put('dav', ...OWN('dav'))).toBe(201);
    const path = pathOf(anns, calendar, 'dav');
    expect(triggersOf(await read(anns, path))).toEqual(TRIGGERS);
    expect(await shown('dav')).toEqual(MINUTES);
    const { text, headers } = await anns.send('GET', path);
    expect((await anns.send('PUT', path, text, ICS)).status).toBe(204);
    expect(await anns.etag(path)).toBe(headers.get('etag'));
    // The expansion of the server has the same alarms.
    const range = '<C:expand start="20300107T000000Z" end="20300112T000000Z"/>';
    const data = `<D:prop><C:calendar-data>${range}</C:calendar-data></D:prop><D:href>${path}</D:href>`;
    const collection = `${anns.home('calendars')}${calendar}/`;
    const report = await anns.report(collection, 'C:calendar-multiget', data);
    const { series: _series, ...days } = TRIGGERS;
    expect(triggersOf(report.text.replaceAll('&#13;', '\r'))).toEqual({ '07': ['-PT15M', '-PT1H'], ...days });
  });

  test('a program changes and removes those of an instance', async () => {
    const uid = 'changed';
    await put(uid, ...series(uid, ...ringing('-PT15M')));
    await put(uid, ...series(uid, ...ringing('-PT15M')), ...instance(uid, '08', ...ringing('-PT20M')));
    expect(await shown(uid)).toMatchObject({ '07': [15], '08': [20], '09': [15] });
    await put(uid, ...series(uid, ...ringing('-PT15M')), ...instance(uid, '08'));
    expect(await shown(uid)).toMatchObject({ '07': [15], '08': [], '09': [15] });
    await put(uid, ...series(uid, ...ringing('-PT15M')), ...instance(uid, '08', ...ringing('-PT15M')));
    expect(await shown(uid)).toMatchObject({ '07': [15], '08': [15], '09': [15] });
    await put(uid, ...series(uid), ...instance(uid, '09', ...ringing('-PT30M')));
    expect(await shown(uid)).toMatchObject({ '07': [], '08': [], '09': [30] });
  });

  test('one in a series without alarms leaves the others the reminders of the calendar', async () => {
    const uid = 'single';
    await put(uid, ...series(uid), ...instance(uid, '08', ...ringing('-PT45M')));
    expect(await shown(uid)).toMatchObject({ '07': null, '08': [45], '09': null });
  });

  test('a snoozed alarm keeps what the program states about it', async () => {
    const uid = 'snoozed';
    const known = ringing('-PT15M', 'X-WR-ALARMUID:A-1', 'UID:A-1');
    const acknowledged = ringing('-PT15M', 'X-WR-ALARMUID:A-1', 'UID:A-1', 'ACKNOWLEDGED:20300108T074500Z');
    const snoozed = alarm(
      'ACTION:DISPLAY',
      'DESCRIPTION:x',
      'UID:A-2',
      'TRIGGER;VALUE=DATE-TIME:20300108T075500Z',
      'RELATED-TO;RELTYPE=SNOOZE:A-1',
    );
    await put(uid, ...series(uid, ...known), ...instance(uid, '08', ...acknowledged, ...snoozed));
    const text = await read(anns, pathOf(anns, calendar, uid));
    expect(text.match(/ACKNOWLEDGED:20300108T074500Z/g)).toHaveLength(1);
    expect(text.match(/RELATED-TO;RELTYPE=SNOOZE:A-1/g)).toHaveLength(1);
    expect(await shown(uid)).toMatchObject({ '07': [15], '08': [15, 5], '09': [15] });
  });

  test('an alarm of all instances from one on has their reminders', async () => {
    const uid = 'range';
    const range = instance(uid, '10', ...ringing('-PT7M')).map((line) =>
      line.replace('RECURRENCE-ID;', 'RECURRENCE-ID;RANGE=THISANDFUTURE;'),
    );
    await importFile(ann, calendar, icsFile(...series(uid, ...ringing('-PT15M')), ...range));
    expect(await shown(uid)).toEqual({
      '07': [15],
      '08': [15],
      '09': [15],
      '10': [7],
      '11': [7],
      '12': [7],
    });
  });

  test('ring at their times, and the usual ones do not', async () => {
    const start = Math.floor(Date.now() / 1000 / 60) * 60 + 5 * 86_400;
    const utc = (n: number) =>
      new Date((start + n * 86_400) * 1000).toISOString().replaceAll(/[-:]|\.000/g, '');
    const times = (n: number) => [`DTSTART:${utc(n)}`, 'DURATION:PT1H'];
    const own = (n: number, ...lines: string[]) =>
      vevent('UID:rings', 'DTSTAMP:20260101T000000Z', `RECURRENCE-ID:${utc(n)}`, ...times(n), ...lines);
    const whole = vevent(
      'UID:rings',
      'DTSTAMP:20260101T000000Z',
      ...times(0),
      'RRULE:FREQ=DAILY;COUNT=4',
      ...ringing('-PT10M'),
    );
    await put('rings', ...whole, ...own(1, ...ringing('-PT2H')), ...own(2));
    const ticks: [number, number][] = [
      [0, 600],
      [1, 7_200],
      [1, 600],
      [2, 600],
      [3, 600],
    ];
    for (const [n, before] of ticks) await clock.tick(new Date((start + n * 86_400 - before) * 1000));
    await app.get(OutboxWorker).drain();
    const [{ event_id: id }] = await app.sql(`SELECT event_id FROM calendar_entries WHERE uid = 'rings'`);
    const found = reported.filter(({ event_id }) => event_id === id);
    expect(found.map(({ start: from, minutes }) => [from, minutes]).toSorted()).toEqual(
      [
        [0, 10],
        [1, 120],
        [3, 10],
      ].map(([n, minutes]) => [
        new Date((start + n! * 86_400) * 1000).toISOString().replace('.000', ''),
        minutes,
      ]),
    );
  });

  test('those of an attendee are their own', async () => {
    const bobsId = await defaultCalendar(bob);
    const meeting = await newEvent(ann, calendar, {
      title: 'Meeting',
      start: at('2030-01-07T09:00:00'),
      end: at('2030-01-07T10:00:00'),
      recurrence: { rules: ['FREQ=DAILY;COUNT=3'] },
      attendees: [bob.email],
    });
    const path = pathOf(bobs, bobsId, meeting.uid);
    const text = await read(bobs, path);
    const whole = text.slice(text.indexOf('BEGIN:VEVENT'), text.indexOf('END:VEVENT'));
    const own = whole
      .replace(/RRULE:.*\r\n/, 'RECURRENCE-ID;TZID=Europe/Berlin:20300108T090000\r\n')
      .replaceAll('20300107T', '20300108T');
    const changed = text.replace(
      'END:VEVENT\r\n',
      `END:VEVENT\r\n${own}${ringing('-PT3M').join('\r\n')}\r\nEND:VEVENT\r\n`,
    );
    expect((await bobs.send('PUT', path, changed, ICS)).status).toBe(204);
    expect(await shown(meeting.uid, bob, bobsId)).toEqual({ '07': null, '08': [3], '09': null });
    expect(await shown(meeting.uid)).toEqual({ '07': null, '08': null, '09': null });
  });

  test('a request about one instance changes its reminders only, and they move with the series', async () => {
    const made = await newEvent(ann, calendar, {
      title: 'Requests',
      start: at('2030-01-07T09:00:00'),
      end: at('2030-01-07T10:00:00'),
      recurrence: { rules: ['FREQ=DAILY;COUNT=3'] },
      reminders: { overrides: [{ method: 'popup', minutes: 15 }] },
    });
    const path = `/calendar/${calendar}/events/${made.id}`;
    const own = { use_default: false, overrides: [{ method: 'email', minutes: 25 }] };
    const one = await ann.api.put(`${path}_20300108T080000Z`, { scope: 'this', reminders: own });
    expect(one.body.event.reminders).toEqual(own);
    expect(await shown(made.uid)).toEqual({ '07': [15], '08': [25], '09': [15] });
    // A request that repeats the response changes nothing of it.
    await ann.api.put(`${path}_20300109T080000Z`, {
      scope: 'this',
      title: 'New title',
      reminders: { overrides: [{ method: 'popup', minutes: 15 }] },
    });
    await ann.api.put(path, { start: at('2030-01-08T11:00:00'), end: at('2030-01-08T12:00:00') });
    expect(await shown(made.uid)).toEqual({ '08': [15], '09': [25], '10': [15] });
    await ann.api.put(path, { reminders: { overrides: [{ method: 'popup', minutes: 30 }] } });
    expect(await shown(made.uid)).toEqual({ '08': [30], '09': [25], '10': [30] });
    const later = await ann.api.put(`${path}_20300109T100000Z`, {
      scope: 'this_and_following',
      title: 'Later part',
    });
    expect(later.status).toBe(200);
    expect(await shown(later.body.new_event.uid)).toEqual({ '09': [25], '10': [30] });
    await ann.api.put(`/calendar/${calendar}/events/${later.body.new_event.id}_20300109T100000Z`, {
      scope: 'this',
      reminders: { overrides: [{ method: 'popup', minutes: 30 }] },
    });
    const [{ instance_alarms: left }] = await app.sql(
      `SELECT instance_alarms FROM calendar_entries WHERE uid = $1`,
      [later.body.new_event.uid],
    );
    expect(left).toEqual({});
  });
});
