import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, hrefsOf, valuesOf } from '../../support/dav/dav-client.ts';

const FAR = 'far@far.example';

describe('an attendee who removes dates of a series by CalDAV', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let carol: TestUser;
  let anns: DavClient;
  let bobs: DavClient;
  let carols: DavClient;
  let anncal: string;
  let bobcal: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob, carol] = await app.tenant('acme', 'ann', 'bob', 'carol');
    [anns, bobs, carols] = [
      await DavClient.of(app, ann),
      await DavClient.of(app, bob),
      await DavClient.of(app, carol),
    ];
    [anncal, bobcal] = [await defaultOf(anns), await defaultOf(bobs)];
  });
  afterAll(() => app?.stop());

  const defaultOf = async (client: DavClient): Promise<string> => {
    await client.propfind(client.home('calendars'), '<D:displayname/>', '1');
    const inbox = `${client.home('calendars')}inbox/`;
    const { text } = await client.propfind(inbox, '<C:schedule-default-calendar-URL/>');
    return valuesOf(text, 'D:href').find((href) => href !== inbox) as string;
  };
  const vevent = (uid: string, organizer: string, guests: string[], ...lines: string[]): string =>
    [
      'BEGIN:VEVENT',
      `UID:${uid}`,
      'DTSTAMP:20270301T000000Z',
      `ORGANIZER:mailto:${organizer}`,
      `ATTENDEE;PARTSTAT=ACCEPTED:mailto:${organizer}`,
      ...guests.map((email) => `ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${email}`),
      ...lines,
      'END:VEVENT',
      '',
    ].join('\r\n');
  const calendarOf = (...events: string[]): string =>
    `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\n${events.join('')}END:VCALENDAR\r\n`;
  const series = (uid: string, organizer: string, guests: string[], ...lines: string[]): string => {
    const times = ['SUMMARY:Daily', 'DTSTART:20270302T090000Z', 'DTEND:20270302T100000Z'];
    return vevent(uid, organizer, guests, ...times, 'RRULE:FREQ=DAILY;COUNT=4', ...lines);
  };
  const moved = (uid: string, day: string, guests: string[], title = 'Moved'): string =>
    vevent(
      uid,
      ann.email,
      guests,
      `SUMMARY:${title}`,
      `RECURRENCE-ID:202703${day}T090000Z`,
      `DTSTART:202703${day}T110000Z`,
      `DTEND:202703${day}T120000Z`,
    );
  const put = async (path: string, text: string, client: DavClient) =>
    (await client.send('PUT', path, text, { 'content-type': 'text/calendar' })).status;
  const read = async (path: string, client: DavClient) =>
    (await client.send('GET', path)).text.replaceAll('\r\n ', '');
  const linesOf = (text: string, name: string) =>
    [...text.matchAll(new RegExp(`^${name}[^:\\r]*:(\\S+)`, 'gm'))].flatMap(([, value]) => value!.split(','));
  const without = (text: string, ...dates: string[]): string =>
    text.replace(/^RRULE/m, `EXDATE:${dates.map((day) => `202703${day}T090000Z`).join(',')}\r\nRRULE`);
  const exdates = async (uid: string) => linesOf(await read(`${bobcal}${uid}.ics`, bobs), 'EXDATE');
  /** Dates of the instances of the organizer's text, with the response of an attendee. */
  const responses = async (uid: string, name = 'bob') =>
    (await read(`${anncal}${uid}.ics`, anns))
      .split('BEGIN:VEVENT')
      .slice(1)
      .map((text) => {
        const [id] = linesOf(text, 'RECURRENCE-ID');
        return `${id?.slice(6, 8) ?? 'all'} ${new RegExp(`PARTSTAT=([A-Z-]+)[^\r]*${name}@`).exec(text)?.[1]}`;
      });

  const eventOf = async (uid: string) =>
    (await app.sql(`SELECT id FROM calendar_events WHERE uid = $1`, [uid]))[0];
  /** Messages to organizers outside of the workspace. */
  const sent = async (uid: string) => {
    await app.get(OutboxWorker).drain();
    return app.sql(
      `SELECT message.method, message.recurrence_key, delivery.recipient FROM scheduling_messages message
         JOIN scheduling_deliveries delivery ON delivery.message_id = message.id
        WHERE message.uid = $1 AND message.direction = 'out'`,
      [uid],
    );
  };
  const historyOf = async (uid: string) =>
    app.sql(
      `SELECT history.action, history.recurrence_key FROM event_history history
         JOIN calendar_events event ON event.tenant_id = history.tenant_id AND event.id = history.event_id
        WHERE event.uid = $1 AND history.action = 'responded'`,
      [uid],
    );

  test('declines each of them, and the organizer keeps them', async () => {
    const [path, own] = [`${anncal}r1.ics`, `${bobcal}r1.ics`];
    expect(await put(path, calendarOf(series('r1', ann.email, [bob.email])), anns)).toBe(201);
    const text = await read(own, bobs);
    expect(await put(own, without(text, '03', '05'), bobs)).toBe(204);
    expect(await exdates('r1')).toEqual(['20270303T090000Z', '20270305T090000Z']);
    expect(await responses('r1')).toEqual(['all NEEDS-ACTION', '03 DECLINED', '05 DECLINED']);
    expect(await read(path, anns)).not.toContain('EXDATE');
    // The program stores what it read: nothing changes.
    const etag = await bobs.etag(own);
    expect(await put(own, await read(own, bobs), bobs)).toBe(204);
    expect(await bobs.etag(own)).toBe(etag);
    // A response to the series and a further date, in one text.
    const accepted = (await read(own, bobs)).replace(/(PARTSTAT=)NEEDS-ACTION([^\r]*bob)/, '$1ACCEPTED$2');
    expect(await put(own, without(accepted, '02'), bobs)).toBe(204);
    expect(await responses('r1')).toEqual(['all ACCEPTED', '02 DECLINED', '03 DECLINED', '05 DECLINED']);
    expect(await exdates('r1')).toHaveLength(3);
  });

  test('has a date again whose EXDATE the program takes back', async () => {
    const [path, own] = [`${anncal}r2.ics`, `${bobcal}r2.ics`];
    const both = [
      series('r2', ann.email, [bob.email], 'EXDATE:20270305T090000Z'),
      moved('r2', '04', [bob.email]),
    ];
    expect(await put(path, calendarOf(...both), anns)).toBe(201);
    const text = await read(own, bobs);
    const [head, instance] = text.split(/(?<=END:VEVENT\r\n)(?=BEGIN:VEVENT)/);
    expect(await put(own, without(`${head}END:VCALENDAR\r\n`, '03', '04'), bobs)).toBe(204);
    expect(await exdates('r2')).toEqual(['20270303T090000Z', '20270304T090000Z', '20270305T090000Z']);
    expect(await responses('r2')).toEqual(expect.arrayContaining(['03 DECLINED', '04 DECLINED']));
    // Programs may keep the text of the instance beside the EXDATE.
    const kept = without(text, '03', '04');
    expect(kept).toContain(instance);
    expect(await put(own, kept, bobs)).toBe(204);
    expect(await exdates('r2')).toHaveLength(3);

    expect(await put(own, text, bobs)).toBe(204);
    expect(await exdates('r2')).toEqual(['20270305T090000Z']);
    expect(linesOf(await read(own, bobs), 'DTSTART')).toContain('20270304T110000Z');
    expect(await responses('r2')).toEqual(expect.arrayContaining(['03 DECLINED', '04 DECLINED']));
    // Dates that the organizer excluded stay excluded.
    expect(await put(own, (await read(own, bobs)).replace(/EXDATE[^\r]*\r\n/, ''), bobs)).toBe(403);
  });

  test('is no organizer, who writes an instance beside its EXDATE', async () => {
    const path = `${anncal}r2b.ics`;
    const text = calendarOf(
      series('r2b', ann.email, [bob.email], 'EXDATE:20270304T090000Z'),
      moved('r2b', '04', [bob.email]),
    );
    for (const status of [201, 204]) {
      expect(await put(path, text, anns)).toBe(status);
      expect(linesOf(await read(path, anns), 'DTSTART')).toContain('20270304T110000Z');
    }
  });

  test('changes nothing else', async () => {
    const own = `${bobcal}r3.ics`;
    await put(`${anncal}r3.ics`, calendarOf(series('r3', ann.email, [bob.email])), anns);
    const text = await read(own, bobs);
    for (const other of [
      text.replace('SUMMARY:Daily', 'SUMMARY:Mine'),
      text.replace('COUNT=4', 'COUNT=5'),
      // "This and all later dates" is a change of the rule, which is the organizer's (RFC 6638, 3.2.2.1).
      text.replace('COUNT=4', 'COUNT=2'),
      text.replace('COUNT=4', 'UNTIL=20270303T090000Z'),
      text.replace('T100000Z', 'T110000Z'),
    ])
      expect(await put(own, without(other, '03'), bobs)).toBe(403);
    expect(await exdates('r3')).toEqual([]);
    // No date of the series.
    expect(await put(own, text.replace(/^RRULE/m, 'EXDATE:20270303T093000Z\r\nRRULE'), bobs)).toBe(204);
    expect(await responses('r3')).toEqual(['all NEEDS-ACTION']);
  });

  test('no longer has a series without dates', async () => {
    const own = `${bobcal}r4.ics`;
    await put(`${anncal}r4.ics`, calendarOf(series('r4', ann.email, [bob.email])), anns);
    const text = await read(own, bobs);
    expect(await put(own, without(text, '02', '03', '04', '05'), bobs)).toBe(204);
    expect((await bobs.send('GET', own)).status).toBe(404);
    expect(hrefsOf((await bobs.propfind(bobcal, '<D:getetag/>', '1')).text)).not.toContain(own);
    expect(await responses('r4')).toEqual([
      'all NEEDS-ACTION',
      ...['02', '03', '04', '05'].map((day) => `${day} DECLINED`),
    ]);
    expect(await put(own, text, bobs)).toBe(201);
    expect(await exdates('r4')).toEqual([]);
  });

  test('and is invited to some dates only removes one by leaving it out', async () => {
    const own = `${bobcal}r5.ics`;
    const guests = ['03', '05'].map((day) => moved('r5', day, [bob.email]));
    await put(`${anncal}r5.ics`, calendarOf(series('r5', ann.email, []), ...guests), anns);
    const text = await read(own, bobs);
    const rest = text.replace(/BEGIN:VEVENT[^]*?END:VEVENT\r\n/, '');
    expect(linesOf(rest, 'RECURRENCE-ID')).toEqual(['20270305T090000Z']);
    expect(await put(own, rest, bobs)).toBe(204);
    expect(linesOf(await read(own, bobs), 'RECURRENCE-ID')).toEqual(['20270305T090000Z']);
    expect(await responses('r5')).toEqual(expect.arrayContaining(['03 DECLINED', '05 NEEDS-ACTION']));
    expect(await put(own, text, bobs)).toBe(204);
    expect(linesOf(await read(own, bobs), 'RECURRENCE-ID')).toHaveLength(2);
    // Another date than the invited ones.
    expect(await put(own, rest.replaceAll('20270305', '20270304'), bobs)).toBe(403);
  });

  test('tells an organizer outside of the workspace', async () => {
    const own = `${bobcal}r6.ics`;
    expect(await put(own, calendarOf(series('r6', FAR, [bob.email])), bobs)).toBe(201);
    expect(await put(own, without(await read(own, bobs), '04'), bobs)).toBe(204);
    expect(await sent('r6')).toEqual([
      { method: 'REPLY', recurrence_key: '2027-03-04T09:00:00', recipient: FAR },
    ]);
    expect(await exdates('r6')).toEqual(['20270304T090000Z']);
  });

  test('tells such an organizer each response once', async () => {
    const own = `${bobcal}r7.ics`;
    expect(await put(own, calendarOf(series('r7', FAR, [bob.email])), bobs)).toBe(201);
    const { id } = await eventOf('r7');
    const path = `/calendar/${bobcal.split('/').at(-2)}/events/${id}/rsvp`;
    const rsvp = { response: 'declined', scope: 'this', recurrence_id: '2027-03-04T09:00:00Z' };
    expect((await bob.api.put(path, rsvp)).status).toBe(200);
    expect(await sent('r7')).toHaveLength(1);
    expect(await put(own, without(await read(own, bobs), '04'), bobs)).toBe(204);
    expect(await exdates('r7')).toEqual(['20270304T090000Z']);
    expect(await sent('r7')).toHaveLength(1);
  });

  test('may remove 50 dates at once, and has one entry in the history', async () => {
    const own = `${bobcal}r8.ics`;
    const days = series('r8', FAR, [bob.email]).replace('COUNT=4', 'COUNT=60');
    expect(await put(own, calendarOf(days), bobs)).toBe(201);
    const text = await read(own, bobs);
    const dates = (count: number): string[] =>
      Array.from({ length: count }, (_, day) =>
        new Date(Date.UTC(2027, 2, 2 + day)).toISOString().slice(0, 10).replaceAll('-', ''),
      );
    const removing = (count: number): string =>
      text.replace(
        /^RRULE/m,
        `${dates(count)
          .map((date) => `EXDATE:${date}T090000Z\r\n`)
          .join('')}RRULE`,
      );
    expect(await put(own, removing(51), bobs)).toBe(403);
    expect(await exdates('r8')).toEqual([]);
    expect(await put(own, removing(50), bobs)).toBe(204);
    expect(await exdates('r8')).toHaveLength(50);
    expect(await historyOf('r8')).toEqual([{ action: 'responded', recurrence_key: '' }]);
  });

  test.each([
    ['is invited too', 'r9', true],
    ['is not invited', 'r10', false],
  ])('by a writer of the calendar, who %s, changes nothing', async (_, uid, isInvited) => {
    const shared = await bob.api.put(`/calendar/${bobcal.split('/').at(-2)}`, {
      shares: [{ user_id: carol.id, role: 'writer' }],
    });
    expect(shared.status).toBe(200);
    const guests = isInvited ? [bob.email, carol.email] : [bob.email];
    expect(await put(`${anncal}${uid}.ics`, calendarOf(series(uid, ann.email, guests)), anns)).toBe(201);
    const own = `${bobcal}${uid}.ics`;
    const theirs = own.replace(bob.id, carol.id);
    const text = await read(theirs, carols);
    expect(text).toContain('RRULE');
    expect(await put(theirs, without(text, '03'), carols)).toBe(403);
    // Nor a date that the owner has removed.
    expect(await put(own, without(await read(own, bobs), '04'), bobs)).toBe(204);
    expect(await put(theirs, text, carols)).toBe(403);
    expect(await exdates(uid)).toEqual(['20270304T090000Z']);
    const rows = await app.sql(
      `SELECT recurrence_key FROM event_participants WHERE event_id = $1 AND removed`,
      [(await eventOf(uid)).id],
    );
    expect(rows).toEqual([{ recurrence_key: '2027-03-04T09:00:00' }]);
    expect(await historyOf(uid)).toHaveLength(1);
  });

  test('does not get an invitation back that a writer of the calendar stores again', async () => {
    const shared = await bob.api.put(`/calendar/${bobcal.split('/').at(-2)}`, {
      shares: [{ user_id: carol.id, role: 'writer' }],
    });
    expect(shared.status).toBe(200);
    const own = `${bobcal}r11.ics`;
    await put(`${anncal}r11.ics`, calendarOf(series('r11', ann.email, [bob.email, carol.email])), anns);
    const text = await read(own, bobs);
    expect((await bobs.send('DELETE', own)).status).toBe(204);
    const theirs = own.replace(bob.id, carol.id);
    const { status, text: error } = await carols.send('PUT', theirs, text, {
      'content-type': 'text/calendar',
    });
    expect([status, error]).toEqual([
      403,
      expect.stringContaining('allowed-attendee-scheduling-object-change'),
    ]);
    expect((await bobs.send('GET', own)).status).toBe(404);
    expect(await responses('r11', 'carol')).toEqual(['all NEEDS-ACTION']);
    expect(await put(own, text, bobs)).toBe(201);
  });

  test('a malformed date is rejected: the program would not see that the stored dates are gone', async () => {
    const path = `${anncal}malformed.ics`;
    const excluded = 'EXDATE:20270303T090000Z';
    const own = (...lines: string[]) => series('malformed', ann.email, [bob.email], ...lines);
    const override = moved('malformed', '04', [bob.email]);
    expect(await put(path, calendarOf(own(excluded), override), anns)).toBe(201);
    const stored = await read(path, anns);
    for (const text of [
      calendarOf(own(`${excluded},soon`), override),
      calendarOf(own(excluded), override.replace('DTSTART:20270304T110000Z', 'DTSTART:soon')),
      calendarOf(own(excluded), override.replace('RECURRENCE-ID:20270304T090000Z', 'RECURRENCE-ID:soon')),
      calendarOf(override.replace('DTSTART:20270304T110000Z', 'DTSTART:soon')),
    ])
      expect(await put(path, text, anns)).toBe(403);
    expect(await read(path, anns)).toBe(stored);
  });
});
