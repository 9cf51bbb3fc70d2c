import { TestApp, type TestUser } from '../../support/app.ts';
import { holdEvents } from '../../support/database/outbox.ts';
import { DavClient, valuesOf } from '../../support/dav/dav-client.ts';

const ICS = { 'content-type': 'text/calendar' };

const calendarOf = (...lines: string[]): string =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Test//EN', ...lines, 'END:VCALENDAR', ''].join('\r\n');
const vevent = (uid: string, ...lines: string[]): string[] => [
  'BEGIN:VEVENT',
  `UID:${uid}`,
  'DTSTAMP:20260301T000000Z',
  ...lines,
  'END:VEVENT',
];
const MORNING = ['DTSTART:20260302T090000Z', 'DTEND:20260302T100000Z'];
const unfolded = (text: string) => text.replaceAll('\r\n ', '');

/** What programs store besides the fields of the API. */
describe('properties of CalDAV programs', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let anns: DavClient;
  let bobs: DavClient;
  let path: string;
  let id: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    [anns, bobs] = [await DavClient.of(app, ann), await DavClient.of(app, bob)];
    id = await idOfDefault(anns);
    path = `${anns.home('calendars')}${id}/`;
  });
  afterAll(() => app?.stop());

  const idOfDefault = async (client: DavClient): Promise<string> => {
    await client.propfind(client.home('calendars'), '<D:displayname/>', '1');
    const { text } = await client.propfind(
      `${client.home('calendars')}inbox/`,
      '<C:schedule-default-calendar-URL/>',
    );
    const href = valuesOf(text, 'D:href').find((each) => !each.endsWith('inbox/')) as string;
    return href.split('/').at(-2) as string;
  };
  const put = async (to: string, text: string, client = anns) =>
    (await client.send('PUT', to, text, ICS)).status;
  const read = async (to: string, client = anns) => unfolded((await client.send('GET', to)).text);
  const event = async (uid: string, user = ann, calendarId = id) => {
    const { body } = await user.api.post(`/calendar/${calendarId}/sync`, { limit: 500 });
    return body.changes.map(({ event: each }: any) => each).find((each: any) => each?.uid === uid);
  };
  /** Returns what the program reads, and expects that nothing changes. */
  const putBack = async (to: string, client = anns): Promise<string> => {
    const { text, headers } = await client.send('GET', to);
    expect(await put(to, text, client)).toBe(204);
    expect(await client.etag(to)).toBe(headers.get('etag'));
    return unfolded(text);
  };
  const alarm = (...lines: string[]) => ['BEGIN:VALARM', ...lines, 'END:VALARM'];

  describe('alarms', () => {
    const OWN = [
      'ACTION:AUDIO',
      'UID:alarm-1',
      'ATTACH;VALUE=URI:Basso',
      'ACKNOWLEDGED:20260302T084500Z',
      'DESCRIPTION;LANGUAGE=en:Leave now',
      'X-APPLE-DEFAULT-ALARM:TRUE',
    ];

    test('keep the properties of the program, also after an edit of the HTTP API', async () => {
      const to = `${path}alarm.ics`;
      expect(
        await put(
          to,
          calendarOf(
            ...vevent(
              'alarm',
              'SUMMARY:Flight',
              ...MORNING,
              ...alarm(...OWN, 'TRIGGER:-PT15M'),
              ...alarm('ACTION:DISPLAY', 'DESCRIPTION:Reminder', 'TRIGGER:-PT5M'),
            ),
          ),
        ),
      ).toBe(201);
      const text = await putBack(to);
      for (const line of [...OWN, 'TRIGGER:-PT15M', 'TRIGGER:-PT5M']) expect(text).toContain(`${line}\r\n`);
      const reminders = { use_default: false };
      const overrides = [
        { method: 'popup', minutes: 15 },
        { method: 'popup', minutes: 5 },
      ];
      const { id: eventId, ...stored } = await event('alarm');
      expect(stored.reminders).toEqual({ ...reminders, overrides });
      const url = `/calendar/${id}/events/${eventId}`;
      expect((await ann.api.put(url, { title: 'Train' })).status).toBe(200);
      await ann.api.put(url, { reminders: { ...reminders, overrides: overrides.slice(0, 1) } });
      const edited = await putBack(to);
      for (const line of ['SUMMARY:Train', ...OWN]) expect(edited).toContain(`${line}\r\n`);
      expect(edited).not.toContain('TRIGGER:-PT5M');
      await ann.api.put(url, {
        reminders: { ...reminders, overrides: [{ method: 'popup', minutes: 30 }] },
      });
      expect(await read(to)).not.toContain('alarm-1');
    });

    test('that are no reminders stand for those of the calendar, until the user takes these back', async () => {
      const to = `${path}late.ics`;
      const late = vevent('late', 'SUMMARY:Late', ...MORNING, ...alarm('ACTION:DISPLAY', 'TRIGGER:PT5M'));
      expect(await put(to, calendarOf(...late))).toBe(201);
      const { id: eventId, reminders } = await event('late');
      expect(reminders).toEqual({ use_default: false, overrides: [] });
      const url = `/calendar/${id}/events/${eventId}`;
      const useDefault = { reminders: { use_default: true, overrides: [] } };
      expect((await ann.api.put(url, useDefault)).status).toBe(200);
      const text = await read(to);
      expect(text).toContain('TRIGGER:PT5M');
      expect(await put(to, text.replace('SUMMARY:Late', 'SUMMARY:Later'))).toBe(204);
      expect(await event('late')).toMatchObject({ title: 'Later', ...useDefault });
      expect(await put(to, text.replace('TRIGGER:PT5M', 'TRIGGER:PT6M'))).toBe(204);
      expect((await event('late')).reminders.use_default).toBe(false);
    });

    test('a dismissal reaches the other devices, and concerns no other user', async () => {
      const to = `${path}dismissed.ics`;
      const people = [`ORGANIZER:mailto:${ann.email}`, `ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:${bob.email}`];
      const own = alarm('ACTION:DISPLAY', 'UID:a', 'DESCRIPTION:Reminder', 'TRIGGER:-PT15M');
      await put(to, calendarOf(...vevent('dismissed', ...MORNING, ...people, ...own)));
      const bobsPath = `${bobs.home('calendars')}${await idOfDefault(bobs)}/dismissed.ics`;
      const invitation = await read(bobsPath, bobs);
      await put(bobsPath, invitation.replace('END:VEVENT', `${own.join('\r\n')}\r\nEND:VEVENT`), bobs);
      const [before, bobsTag] = [await anns.etag(to), await bobs.etag(bobsPath)];
      const dismissed = (text: string) =>
        text.replace('UID:a\r\n', 'UID:a\r\nACKNOWLEDGED:20260302T084600Z\r\n');
      expect(await put(bobsPath, dismissed(await read(bobsPath, bobs)), bobs)).toBe(204);
      expect(await read(bobsPath, bobs)).toContain('ACKNOWLEDGED:20260302T084600Z');
      expect(await bobs.etag(bobsPath)).not.toBe(bobsTag);
      expect(await anns.etag(to)).toBe(before);
      expect(await put(to, dismissed(await read(to)))).toBe(204);
      expect(await putBack(to)).toContain('ACKNOWLEDGED:20260302T084600Z');
      await putBack(bobsPath, bobs);
    });

    test('of single instances are dismissed alone', async () => {
      const to = `${path}series-alarm.ics`;
      const own = alarm('ACTION:DISPLAY', 'UID:series', 'DESCRIPTION:x', 'TRIGGER:-PT15M');
      const instance = (day: string, hour: string) => [
        `RECURRENCE-ID:202603${day}T090000Z`,
        `DTSTART:202603${day}T${hour}0000Z`,
        `DTEND:202603${day}T${hour}3000Z`,
      ];
      const dismissed = (day: string) =>
        own.map((each) => each.replace('UID:series', `UID:series\r\nACKNOWLEDGED:202603${day}T084500Z`));
      await put(
        to,
        calendarOf(
          ...vevent(
            'series-alarm',
            'DTSTART:20260302T090000Z',
            'DTEND:20260302T093000Z',
            'RRULE:FREQ=DAILY;COUNT=5',
            ...own,
          ),
          // One instance has moved, the other one differs in nothing else.
          ...vevent('series-alarm', ...instance('03', '12'), ...dismissed('03')),
          ...vevent('series-alarm', ...instance('04', '09'), ...dismissed('04')),
        ),
      );
      const alarmsIn = (text: string) =>
        text
          .split('BEGIN:VEVENT')
          .slice(1)
          .map((each) => /ACKNOWLEDGED:(\d+)/.exec(each)?.[1] ?? null);
      expect(alarmsIn(await putBack(to))).toEqual([null, '20260303', '20260304']);
      const { id: eventId } = await event('series-alarm');
      await ann.api.put(`/calendar/${id}/events/${eventId}`, { title: 'New', scope: 'all' });
      expect(alarmsIn(await putBack(to))).toEqual([null, '20260303', '20260304']);
    });

    test('at the same time as another one, and beyond ten, stay', async () => {
      const to = `${path}alarms.ics`;
      const many = Array.from({ length: 12 }, (_, n) =>
        alarm('ACTION:DISPLAY', `UID:n-${n}`, 'DESCRIPTION:x', `TRIGGER:-PT${n + 1}M`),
      );
      const snoozed = alarm(
        'ACTION:DISPLAY',
        'UID:again',
        'DESCRIPTION:x',
        'RELATED-TO;RELTYPE=SNOOZE:n-0',
        'TRIGGER:-PT1M',
      );
      await put(to, calendarOf(...vevent('alarms', ...MORNING, ...many.flat(), ...snoozed)));
      const text = await putBack(to);
      expect(text.match(/BEGIN:VALARM/g)).toHaveLength(13);
      expect(text).toContain('RELATED-TO;RELTYPE=SNOOZE:n-0');
      expect((await event('alarms')).reminders.overrides).toHaveLength(10);
    });
  });

  describe('parameters', () => {
    test('of texts stay until their field changes', async () => {
      const to = `${path}texts.ics`;
      const texts = [
        'SUMMARY;LANGUAGE=en-US:Party',
        'DESCRIPTION;ALTREP="http://example.com/a.html":Bring\\, food\\nand drinks',
        'LOCATION;ALTREP="http://example.com/b.html":Room 1',
        'CATEGORIES;LANGUAGE=en:Fun,Work',
        'CATEGORIES:Third',
      ];
      await put(to, calendarOf(...vevent('texts', ...MORNING, ...texts)));
      const text = await putBack(to);
      for (const line of texts) expect(text).toContain(`${line}\r\n`);
      expect(text.match(/^(?:SUMMARY|DESCRIPTION|LOCATION|CATEGORIES)/gm)).toHaveLength(5);
      const { id: eventId, ...stored } = await event('texts');
      expect(stored).toMatchObject({
        title: 'Party',
        description: 'Bring, food\nand drinks',
        location: 'Room 1',
        categories: ['Fun', 'Work', 'Third'],
      });
      const change = { description: 'Nothing', location: 'Room 2', categories: ['Fun'] };
      await ann.api.put(`/calendar/${id}/events/${eventId}`, change);
      const edited = await putBack(to);
      for (const line of [texts[0], 'DESCRIPTION:Nothing', 'LOCATION:Room 2', 'CATEGORIES:Fun'])
        expect(edited).toContain(`${line}\r\n`);
      expect(edited).not.toContain('ALTREP');
    });

    test('of organizer and attendees stay, also those of an instance', async () => {
      const to = `${path}people.ics`;
      const zoe = 'X-NUM-GUESTS=2;LANGUAGE=de;SCHEDULE-AGENT=CLIENT:mailto:zoe@far.example';
      const people = (status: string) => [
        `ORGANIZER;CN=Ann;X-SPECIAL=1:mailto:${ann.email}`,
        `ATTENDEE;PARTSTAT=NEEDS-ACTION;X-RANK="a;b":mailto:${bob.email}`,
        `ATTENDEE;PARTSTAT=${status};SCHEDULE-FORCE-SEND=REQUEST;${zoe}`,
        'ATTENDEE;CN=Hall;CUTYPE=ROOM:urn:uuid:1f2e3d4c-0000-4000-8000-000000000001',
      ];
      const instance = [
        'RECURRENCE-ID:20260303T090000Z',
        'DTSTART:20260303T090000Z',
        'DTEND:20260303T100000Z',
        'SUMMARY:Other',
      ];
      await put(
        to,
        calendarOf(
          ...vevent('people', ...MORNING, 'RRULE:FREQ=DAILY;COUNT=3', ...people('NEEDS-ACTION')),
          ...vevent('people', ...instance, ...people('ACCEPTED')),
        ),
      );
      const text = await putBack(to);
      for (const parameter of [';X-SPECIAL=1:', ';X-RANK="a;b":', zoe, ':urn:uuid:1f2e3d4c'])
        expect(text.split(parameter)).toHaveLength(3);
      expect(text).not.toContain('FORCE-SEND');
      await ann.api.put(`/calendar/${id}/events/${(await event('people')).id}`, {
        title: 'New',
        scope: 'all',
      });
      expect(await putBack(to)).toContain(zoe);
      await put(to, (await read(to)).replaceAll(';X-NUM-GUESTS=2', ';X-NUM-GUESTS=3'));
      expect(await putBack(to)).toContain('X-NUM-GUESTS=3');
    });
  });

  describe('instances without their series', () => {
    const ZOE = 'zoe@far.example';
    const instance = (uid: string, day: string, ...lines: string[]) =>
      vevent(
        uid,
        'SEQUENCE:2',
        `RECURRENCE-ID;TZID=Europe/Berlin:202603${day}T090000`,
        `DTSTART;TZID=Europe/Berlin:202603${day}T110000`,
        `DTEND;TZID=Europe/Berlin:202603${day}T120000`,
        `ORGANIZER:mailto:${ZOE}`,
        `ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${ann.email}`,
        ...lines,
      );

    test('are stored as such, and a response names them', async () => {
      const to = `${path}orphans.ics`;
      const [second, first] = [
        instance('orphans', '09', 'SUMMARY:B'),
        instance('orphans', '02', 'SUMMARY:A'),
      ];
      expect(await put(to, calendarOf(...second, ...first))).toBe(201);
      const text = await putBack(to);
      expect(text.match(/^RECURRENCE-ID.*$/gm)).toEqual([
        'RECURRENCE-ID;TZID=Europe/Berlin:20260302T090000',
        'RECURRENCE-ID;TZID=Europe/Berlin:20260309T090000',
      ]);
      for (const line of [
        'SEQUENCE:2',
        'SUMMARY:A',
        'SUMMARY:B',
        'DTSTART;TZID=Europe/Berlin:20260309T110000',
      ])
        expect(text).toContain(`${line}\r\n`);
      expect(text.slice(text.indexOf('BEGIN:VEVENT'))).not.toMatch(/^(?:RRULE|RDATE)/m);
      const { body } = await ann.api.get(`/calendar/${id}/instances?from=2026-03-01&to=2026-03-31`);
      const shown = body.instances.filter(({ uid }: any) => uid === 'orphans');
      expect(shown.map(({ title, start }: any) => [title, start.date_time])).toEqual([
        ['A', '2026-03-02T11:00:00'],
        ['B', '2026-03-09T11:00:00'],
      ]);
      const deliver = await holdEvents(app);
      expect(await put(to, text.replaceAll('NEEDS-ACTION', 'ACCEPTED'))).toBe(204);
      expect(await putBack(to)).toContain('PARTSTAT=ACCEPTED');
      const [{ count }] = (await app.sql(
        `SELECT count(*)::int FROM outbox WHERE payload::text LIKE '%REPLY%' AND payload::text LIKE $1`,
        [`%${ZOE}%`],
      )) as any;
      await deliver();
      expect(count).toBe(1);
    });

    test('become those of the series when the program stores it', async () => {
      const to = `${path}adopted.ics`;
      await put(to, calendarOf(...instance('adopted', '09', 'SUMMARY:Moved')));
      const [only] = [await read(to)];
      const start = only.indexOf('BEGIN:VEVENT');
      const series = vevent(
        'adopted',
        'SUMMARY:Series',
        'DTSTART;TZID=Europe/Berlin:20260302T090000',
        'DTEND;TZID=Europe/Berlin:20260302T100000',
        'RRULE:FREQ=WEEKLY;COUNT=3',
        `ORGANIZER:mailto:${ZOE}`,
        `ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${ann.email}`,
      );
      const whole = `${only.slice(0, start)}${series.join('\r\n')}\r\n${only.slice(start)}`;
      // An attendee does not extend what the organizer stated.
      expect(await put(to, whole)).toBe(403);
      const own = `${path}own-orphan.ics`;
      const strip = (text: string) => text.replaceAll(/^(?:ORGANIZER|ATTENDEE).*\r\n/gm, '');
      expect(await put(own, strip(calendarOf(...instance('own-orphan', '09', 'SUMMARY:Moved'))))).toBe(201);
      const stored = await read(own);
      const at = stored.indexOf('BEGIN:VEVENT');
      const text = `${stored.slice(0, at)}${strip(`${series.join('\r\n')}\r\n`).replace('adopted', 'own-orphan')}${stored.slice(at)}`;
      expect(await put(own, text)).toBe(204);
      const after = await putBack(own);
      for (const line of ['RRULE:FREQ=WEEKLY;COUNT=3', 'SUMMARY:Moved', 'SUMMARY:Series'])
        expect(after).toContain(`${line}\r\n`);
    });
  });

  describe('a zone of the program', () => {
    const zone = (name: string, winter: string, summer: string) => [
      'BEGIN:VTIMEZONE',
      `TZID:${name}`,
      'BEGIN:STANDARD',
      'DTSTART:19701025T030000',
      'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10',
      `TZOFFSETFROM:${summer}`,
      `TZOFFSETTO:${winter}`,
      'END:STANDARD',
      'BEGIN:DAYLIGHT',
      'DTSTART:19700329T020000',
      'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3',
      `TZOFFSETFROM:${winter}`,
      `TZOFFSETTO:${summer}`,
      'END:DAYLIGHT',
      'END:VTIMEZONE',
    ];
    const times = (name: string) => [
      `DTSTART;TZID=${name}:20260702T090000`,
      `DTEND;TZID=${name}:20260702T100000`,
    ];

    test('is the zone with the same rules', async () => {
      const to = `${path}own-zone.ics`;
      const own = 'My Office Time';
      await put(to, calendarOf(...zone(own, '+0100', '+0200'), ...vevent('own-zone', ...times(own))));
      const text = await putBack(to);
      expect(text).toMatch(/DTSTART;TZID=Europe\/[A-Z][a-z]+:20260702T090000/);
      expect(text).toContain('BEGIN:VTIMEZONE');
      expect((await event('own-zone')).start.time_zone).toMatch(/^Europe\//);
    });

    test('without an equal keeps the moment', async () => {
      const to = `${path}odd-zone.ics`;
      const own = 'Odd Time';
      await put(to, calendarOf(...zone(own, '+0137', '+0237'), ...vevent('odd-zone', ...times(own))));
      const text = await putBack(to);
      expect(text).toContain('DTSTART:20260702T062300Z');
      expect(text).toMatch(/DURATION:PT1H|DTEND:20260702T072300Z/);
      expect(text).not.toContain('TZID');
    });
  });
});
