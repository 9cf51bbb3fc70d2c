import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, hrefsOf, valuesOf } from '../../support/dav/dav-client.ts';

const ZOE = 'zoe@far.example';
const YAN = 'yan@far.example';
const ICS = { 'content-type': 'text/calendar' };

describe('scheduling by CalDAV', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let anns: DavClient;
  let bobs: DavClient;
  let anncal: string;
  let bobcal: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    [anns, bobs] = [await DavClient.of(app, ann), await DavClient.of(app, bob)];
    [anncal, bobcal] = [await defaultOf(anns), await defaultOf(bobs)];
  });
  afterAll(() => app?.stop());

  const defaultOf = async (client: DavClient): Promise<string> => {
    await client.propfind(client.home('calendars'), '<D:displayname/>', '1');
    const { text } = await client.propfind(
      `${client.home('calendars')}inbox/`,
      '<C:schedule-default-calendar-URL/>',
    );
    return valuesOf(text, 'D:href').find((href) => !href.endsWith('inbox/')) as string;
  };
  const put = async (client: DavClient, path: string, text: string) => {
    const { status, text: body } = await client.send('PUT', path, text, ICS);
    return [status, body];
  };
  const meeting = (uid: string, attendees: string[], ...more: string[]): string =>
    [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//Test//EN',
      'BEGIN:VEVENT',
      `UID:${uid}`,
      'DTSTAMP:20270301T000000Z',
      'SUMMARY:Meeting',
      'DTSTART:20270302T090000Z',
      'DTEND:20270302T100000Z',
      `ORGANIZER:mailto:${ann.email}`,
      `ATTENDEE;PARTSTAT=ACCEPTED:mailto:${ann.email}`,
      ...attendees,
      ...more,
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ].join('\r\n');
  const invited = (email: string, more = ''): string =>
    `ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE${more}:mailto:${email}`;
  const unfolded = (text: string) => text.replaceAll('\r\n ', '');

  /** Messages to addresses outside of the workspace, oldest first. */
  const sent = async (uid: string): Promise<string[]> => {
    await app.get(OutboxWorker).drain();
    const rows = await app.sql(
      `SELECT message.method, delivery.recipient FROM scheduling_messages message
         JOIN scheduling_deliveries delivery ON delivery.message_id = message.id
        WHERE message.uid = $1 AND message.direction = 'out' ORDER BY message.id`,
      [uid],
    );
    return rows.map(({ method, recipient }) => `${method} ${recipient}`);
  };

  test('a PUT of the organizer invites, moves and cancels, each once', async () => {
    const path = `${anncal}m1.ics`;
    expect(await put(anns, path, meeting('m1', [invited(bob.email, ';X=1'), invited(ZOE)]))).toEqual([
      201,
      '',
    ]);
    expect(await sent('m1')).toEqual([`REQUEST ${ZOE}`]);
    const seen = await bobs.send('GET', `${bobcal}m1.ics`);
    expect(unfolded(seen.text)).toContain(`PARTSTAT=NEEDS-ACTION;RSVP=TRUE;X=1:mailto:${bob.email}`);

    const { text } = await anns.send('GET', path);
    await put(anns, path, text);
    await put(anns, path, text.replace('END:VEVENT', 'X-MOZ-LASTACK:20270301T000000Z\r\nEND:VEVENT'));
    expect(await sent('m1')).toEqual([`REQUEST ${ZOE}`]);
    expect((await anns.send('GET', path)).text).toContain('X-MOZ-LASTACK');

    const current = (await anns.send('GET', path)).text;
    await put(anns, path, current.replace('T090000Z', 'T110000Z').replace('T100000Z', 'T120000Z'));
    expect(await sent('m1')).toEqual([`REQUEST ${ZOE}`, `REQUEST ${ZOE}`]);
    expect((await bobs.send('GET', `${bobcal}m1.ics`)).text).toContain('DTSTART:20270302T110000Z');

    await anns.send('DELETE', path);
    expect((await sent('m1')).at(-1)).toBe(`CANCEL ${ZOE}`);
    expect((await bobs.send('GET', `${bobcal}m1.ics`)).text).toContain('STATUS:CANCELLED');
  });

  describe('a PUT of the organizer with an instance', () => {
    const calendarId = (path: string) => path.split('/').at(-2);
    const AT = '2027-03-09T09:00:00Z';
    const responses = async (uid: string) => {
      const calendar = calendarId(bobcal);
      const [event] = (await bob.api.get(`/calendar/${calendar}/events?uid=${uid}`)).body.events;
      const path = `/calendar/${calendar}/events/${event.id}`;
      const one = (await bob.api.get(`${path}?recurrence_id=${AT}`)).body.event;
      return [event.my_response, one.my_response];
    };
    /** A series that Bob and Zoe have accepted, and the text of an instance of it. */
    const accepted = async (uid: string) => {
      const people = [invited(bob.email), invited(ZOE).replace('NEEDS-ACTION', 'ACCEPTED')];
      await put(anns, `${anncal}${uid}.ics`, meeting(uid, people, 'RRULE:FREQ=WEEKLY;COUNT=4'));
      const calendar = calendarId(bobcal);
      const [event] = (await bob.api.get(`/calendar/${calendar}/events?uid=${uid}`)).body.events;
      const rsvp = `/calendar/${calendar}/events/${event.id}/rsvp`;
      expect((await bob.api.put(rsvp, { response: 'accepted' })).status).toBe(200);
      const text = unfolded((await anns.send('GET', `${anncal}${uid}.ics`)).text);
      const start = text.indexOf('BEGIN:VEVENT');
      const master = text.slice(start, text.indexOf('END:VCALENDAR'));
      const write = async (change: (lines: string) => string) => {
        const instance = change(master.replace(/RRULE[^\r]*/, 'RECURRENCE-ID:20270309T090000Z'));
        const body = text.replace('END:VCALENDAR', `${instance}END:VCALENDAR`);
        expect((await put(anns, `${anncal}${uid}.ics`, body))[0]).toBe(204);
      };
      return { write };
    };
    const onDay = (day: string) => (lines: string) =>
      lines
        .replace(/DTSTART[^\r]*/, `DTSTART:202703${day}T090000Z`)
        .replace(/DTEND[^\r]*/, `DTEND:202703${day}T100000Z`);
    const MOVES: [string, (lines: string) => string][] = [
      ['on another day', onDay('10')],
      ['that is longer', (lines) => onDay('09')(lines).replace(/DTEND[^\r]*/, 'DURATION:PT2H')],
    ];

    test.each(MOVES)(
      '%s: attendees have to respond again, to it only (RFC 6638, 3.2.8)',
      async (name, change) => {
        const uid = name.replaceAll(' ', '-');
        const { write } = await accepted(uid);
        expect(await responses(uid)).toEqual(['accepted', 'accepted']);
        await write(change);
        expect(await responses(uid)).toEqual(['accepted', 'needs_action']);
        await app.get(OutboxWorker).drain();
        const [{ ics }] = await app.sql(
          `SELECT ics FROM scheduling_messages WHERE uid = $1 AND direction = 'out' ORDER BY id DESC LIMIT 1`,
          [uid],
        );
        const instance = unfolded(ics)
          .split('BEGIN:VEVENT')
          .find((each) => each.includes('RECURRENCE-ID'));
        expect(instance).toMatch(/PARTSTAT=NEEDS-ACTION[^\r]*zoe@/);
      },
    );

    test('with another title keeps the responses', async () => {
      const { write } = await accepted('titled');
      await write((lines) => onDay('09')(lines).replace('SUMMARY:Meeting', 'SUMMARY:Other'));
      expect(await responses('titled')).toEqual(['accepted', 'accepted']);
    });

    test('back at the time of its series: attendees have to respond again', async () => {
      const { write } = await accepted('back');
      await write(onDay('10'));
      const calendar = calendarId(bobcal);
      const [event] = (await bob.api.get(`/calendar/${calendar}/events?uid=back`)).body.events;
      const rsvp = `/calendar/${calendar}/events/${event.id}/rsvp`;
      expect((await bob.api.put(rsvp, { response: 'declined', recurrence_id: AT })).status).toBe(200);
      expect(await responses('back')).toEqual(['accepted', 'declined']);
      await write(onDay('09'));
      expect(await responses('back')).toEqual(['accepted', 'needs_action']);
    });
  });

  test('a PUT of an attendee responds, and changes nothing else', async () => {
    await put(anns, `${anncal}m2.ics`, meeting('m2', [invited(bob.email)]));
    const path = `${bobcal}m2.ics`;
    const { text } = await bobs.send('GET', path);
    const accepted = unfolded(text).replace(/(PARTSTAT=)NEEDS-ACTION([^\r]*bob)/, '$1ACCEPTED$2');
    expect(await put(bobs, path, accepted)).toEqual([204, '']);
    expect(unfolded((await anns.send('GET', `${anncal}m2.ics`)).text)).toMatch(/PARTSTAT=ACCEPTED[^\r]*bob/);
    const etag = await bobs.etag(path);
    await put(bobs, path, (await bobs.send('GET', path)).text);
    expect(await bobs.etag(path)).toBe(etag);
    const [status, body] = await put(bobs, path, accepted.replace('SUMMARY:Meeting', 'SUMMARY:Mine'));
    expect([status, body]).toEqual([
      403,
      expect.stringContaining('<C:allowed-attendee-scheduling-object-change/>'),
    ]);
    const alarm = 'BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:R\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n';
    const reminded = (await bobs.send('GET', path)).text.replace('END:VEVENT', `${alarm}END:VEVENT`);
    expect(await put(bobs, path, reminded)).toEqual([204, '']);
    expect((await bobs.send('GET', path)).text).toContain('TRIGGER:-PT5M');
    expect((await anns.send('GET', `${anncal}m2.ics`)).text).not.toContain('TRIGGER');
    await bobs.send('DELETE', path);
    expect(unfolded((await anns.send('GET', `${anncal}m2.ics`)).text)).toMatch(/PARTSTAT=DECLINED[^\r]*bob/);
    const { text: list } = await bobs.propfind(bobcal, '<D:getetag/>', '1');
    expect(hrefsOf(list)).not.toContain(path);
  });

  test('Schedule-Reply: F removes an invitation without a response (RFC 6638, 8.1)', async () => {
    const silently = { 'schedule-reply': 'F' };
    await put(anns, `${anncal}quiet.ics`, meeting('quiet', [invited(bob.email)]));
    const path = `${bobcal}quiet.ics`;
    const text = (await bobs.send('GET', path)).text;
    const etag = await anns.etag(`${anncal}quiet.ics`);
    expect((await bobs.send('DELETE', path, undefined, silently)).status).toBe(204);
    expect((await bobs.send('GET', path)).status).toBe(404);
    expect(await anns.etag(`${anncal}quiet.ics`)).toBe(etag);
    // The response of another shows it no more than before, a change of the organizer does.
    const own = (await anns.send('GET', `${anncal}quiet.ics`)).text;
    const calendar = anncal.split('/').at(-2);
    const [event] = (await ann.api.get(`/calendar/${calendar}/events?uid=quiet`)).body.events;
    const rsvp = `/calendar/${calendar}/events/${event.id}/rsvp`;
    expect((await ann.api.put(rsvp, { response: 'tentative' })).status).toBe(200);
    expect((await bobs.send('GET', path)).status).toBe(404);
    await put(anns, `${anncal}quiet.ics`, own.replace('T100000Z', 'T103000Z'));
    expect((await bobs.send('GET', path)).status).toBe(200);
    await bobs.send('DELETE', path, undefined, { 'schedule-reply': 'f' });
    expect(await put(bobs, path, text)).toEqual([201, '']);
    expect(unfolded((await bobs.send('GET', path)).text)).toMatch(/PARTSTAT=NEEDS-ACTION[^\r]*bob/);

    for (const [uid, headers] of [
      ['quiet-outside', silently],
      ['told-outside', {}],
    ] as const) {
      const foreign = meeting(uid, [invited(bob.email)]).replaceAll(ann.email, ZOE);
      expect(await put(bobs, `${bobcal}${uid}.ics`, foreign)).toEqual([201, '']);
      expect((await bobs.send('DELETE', `${bobcal}${uid}.ics`, undefined, headers)).status).toBe(204);
    }
    expect([await sent('quiet-outside'), await sent('told-outside')]).toEqual([[], [`REPLY ${ZOE}`]]);
    // An organizer who deletes an event still cancels it.
    await put(anns, `${anncal}loud.ics`, meeting('loud', [invited(ZOE)]));
    await anns.send('DELETE', `${anncal}loud.ics`, undefined, silently);
    expect((await sent('loud')).at(-1)).toBe(`CANCEL ${ZOE}`);
  });

  test.each(['CLIENT', 'NONE'])(
    'the server sends nothing to attendees with SCHEDULE-AGENT=%s',
    async (agent) => {
      const theirs = (uid: string, ...more: string[]) =>
        meeting(uid, [invited(ZOE, `;SCHEDULE-AGENT=${agent}`), ...more]);
      const uid = (name: string) => `agent-${name}-${agent}`;
      const changed = uid('changed');
      const path = `${anncal}${changed}.ics`;
      await put(anns, path, theirs(changed, invited(YAN)));
      await sent(changed);
      const [{ id }] = (await ann.api.get(`/calendar/${anncal.split('/').at(-2)}/events?uid=${changed}`)).body
        .events;
      const event = `/calendar/${anncal.split('/').at(-2)}/events/${id}`;
      expect((await ann.api.put(event, { title: 'Renamed' })).status).toBe(200);
      await sent(changed);
      await anns.send('DELETE', path);
      expect(await sent(changed)).toEqual([`REQUEST ${YAN}`, `REQUEST ${YAN}`, `CANCEL ${YAN}`]);

      const left = uid('left');
      await put(anns, `${anncal}${left}.ics`, theirs(left, invited(YAN)));
      await sent(left);
      const { text } = await anns.send('GET', `${anncal}${left}.ics`);
      await put(anns, `${anncal}${left}.ics`, unfolded(text).replace(/ATTENDEE[^\r]*zoe[^\r]*\r\n/, ''));
      expect(new Set(await sent(left))).toEqual(new Set([`REQUEST ${YAN}`]));

      // The server takes over.
      const taken = uid('taken');
      await put(anns, `${anncal}${taken}.ics`, theirs(taken));
      expect(await sent(taken)).toEqual([]);
      await put(anns, `${anncal}${taken}.ics`, meeting(taken, [invited(ZOE)], 'LOCATION:Here'));
      expect(await sent(taken)).toEqual([`REQUEST ${ZOE}`]);

      const reply = uid('reply');
      const foreign = meeting(reply, [invited(bob.email)])
        .replaceAll(ann.email, ZOE)
        .replace('ORGANIZER:', `ORGANIZER;SCHEDULE-AGENT=${agent}:`);
      await put(bobs, `${bobcal}${reply}.ics`, foreign);
      await bobs.send('DELETE', `${bobcal}${reply}.ics`);
      expect(await sent(reply)).toEqual([]);

      const { calendar } = (await ann.api.post('/calendar', { name: `Gone ${agent}` })).body;
      const gone = uid('gone');
      await put(anns, `${anns.home('calendars')}${calendar.id}/${gone}.ics`, theirs(gone, invited(YAN)));
      await sent(gone);
      await ann.api.delete(`/calendar/${calendar.id}`);
      expect(await sent(gone)).toEqual([`REQUEST ${YAN}`, `CANCEL ${YAN}`]);
    },
  );

  test('SCHEDULE-FORCE-SEND sends a message again, once, also where nothing changes (RFC 6638, 7.2)', async () => {
    const path = `${anncal}force.ics`;
    await put(anns, path, meeting('force', [invited(ZOE), invited(YAN), invited(bob.email)]));
    expect(new Set(await sent('force'))).toEqual(new Set([`REQUEST ${YAN}`, `REQUEST ${ZOE}`]));
    const etag = await anns.etag(path);
    const text = unfolded((await anns.send('GET', path)).text);
    const forced = text.replace(/(:mailto:zoe)/, ';SCHEDULE-FORCE-SEND=REQUEST$1');
    const since = async (count: number) => (await sent('force')).slice(count);
    expect(await put(anns, path, forced)).toEqual([204, '']);
    expect(await since(2)).toEqual([`REQUEST ${ZOE}`]);
    expect(await anns.etag(path)).toBe(etag);
    expect((await anns.send('GET', path)).text).not.toContain('FORCE-SEND');
    // With a change that attendees do not learn, and with one that they learn anyway.
    expect(await put(anns, path, forced.replace('END:VEVENT', 'X-OWN:1\r\nEND:VEVENT'))).toEqual([204, '']);
    expect(await since(3)).toEqual([`REQUEST ${ZOE}`]);
    expect(await put(anns, path, forced.replace('SUMMARY:Meeting', 'SUMMARY:New'))).toEqual([204, '']);
    expect((await since(4)).toSorted()).toEqual([`REQUEST ${YAN}`, `REQUEST ${ZOE}`]);
    // Neither to attendees whom the program informs itself nor by another method.
    for (const more of [';SCHEDULE-AGENT=CLIENT;SCHEDULE-FORCE-SEND=REQUEST', ';SCHEDULE-FORCE-SEND=CANCEL'])
      await put(
        anns,
        path,
        forced.replace('SUMMARY:Meeting', 'SUMMARY:New').replace(';SCHEDULE-FORCE-SEND=REQUEST', more),
      );
    expect(await since(6)).toEqual([]);

    const foreign = meeting('forced-reply', [invited(bob.email)]).replaceAll(ann.email, ZOE);
    const own = `${bobcal}forced-reply.ics`;
    await put(bobs, own, foreign);
    expect(await sent('forced-reply')).toEqual([]);
    await put(bobs, own, foreign.replace('ORGANIZER:', 'ORGANIZER;SCHEDULE-FORCE-SEND=REPLY:'));
    expect(await sent('forced-reply')).toEqual([`REPLY ${ZOE}`]);
  });

  test('an invitation that an attendee deletes and stores again is shown again, with the response of the text', async () => {
    await put(anns, `${anncal}m7.ics`, meeting('m7', [invited(bob.email)]));
    const path = `${bobcal}m7.ics`;
    const text = unfolded((await bobs.send('GET', path)).text);
    const response = async () =>
      /PARTSTAT=([A-Z-]+)[^\r]*bob/.exec(unfolded((await anns.send('GET', `${anncal}m7.ics`)).text))?.[1];
    const names = async () => hrefsOf((await bobs.propfind(bobcal, '<D:getetag/>', '1')).text);
    await bobs.send('DELETE', path);
    expect([await response(), await names()]).toEqual(['DECLINED', expect.not.arrayContaining([path])]);
    const old = await bobs.send('PUT', path, text, { ...ICS, 'if-match': '"1"' });
    expect(old.status).toBe(412);
    // The organizer stated something else meanwhile, which counts.
    const current = (await anns.send('GET', `${anncal}m7.ics`)).text;
    await put(anns, `${anncal}m7.ics`, current.replace('SUMMARY:Meeting', 'SUMMARY:Renamed'));
    expect(await names()).not.toContain(path);
    const again = await bobs.send('PUT', path, text, { ...ICS, 'if-none-match': '*' });
    expect([again.status, await response()]).toEqual([201, 'DECLINED']);
    expect(await names()).toContain(path);
    expect((await bobs.send('GET', path)).text).toContain('SUMMARY:Renamed');
    await bobs.send('DELETE', path);
    // Under another name, with a response.
    const other = `${bobcal}again.ics`;
    const accepted = text.replace(/(PARTSTAT=)NEEDS-ACTION([^\r]*bob)/, '$1ACCEPTED$2');
    expect(await put(bobs, other, accepted)).toEqual([201, '']);
    expect([await response(), (await names()).filter((each) => [path, other].includes(each))]).toEqual([
      'ACCEPTED',
      [other],
    ]);
    await bobs.send('DELETE', other);
    expect(await put(bobs, other, meeting('m8', []).replaceAll(ann.email, bob.email))).toEqual([201, '']);
  });

  test('a response to an instance is one to this instance', async () => {
    await put(anns, `${anncal}m3.ics`, meeting('m3', [invited(bob.email)], 'RRULE:FREQ=DAILY;COUNT=3'));
    const path = `${bobcal}m3.ics`;
    const text = unfolded((await bobs.send('GET', path)).text);
    const master = text.slice(text.indexOf('BEGIN:VEVENT'), text.indexOf('END:VEVENT') + 12);
    const instance = master
      .replace(/RRULE[^\r]*\r\n/, '')
      .replaceAll('20270302T', '20270303T')
      .replace('DTSTART', 'RECURRENCE-ID:20270303T090000Z\r\nDTSTART')
      .replace(/(PARTSTAT=)NEEDS-ACTION([^\r]*bob)/, '$1DECLINED$2');
    expect(await put(bobs, path, text.replace('END:VCALENDAR', `${instance}END:VCALENDAR`))).toEqual([
      204,
      '',
    ]);
    const stored = unfolded((await anns.send('GET', `${anncal}m3.ics`)).text);
    expect(stored.match(/PARTSTAT=DECLINED[^\r]*bob/g)).toHaveLength(1);
    expect(stored.match(/PARTSTAT=NEEDS-ACTION[^\r]*bob/g)).toHaveLength(1);
  });

  test('an attendee that the organizer adds or removes gets one message; others keep their responses', async () => {
    const path = `${anncal}m4.ics`;
    await put(anns, path, meeting('m4', [invited(bob.email)]));
    const accepted = unfolded((await bobs.send('GET', `${bobcal}m4.ics`)).text).replace(
      /(PARTSTAT=)NEEDS-ACTION([^\r]*bob)/,
      '$1ACCEPTED$2',
    );
    await put(bobs, `${bobcal}m4.ics`, accepted);
    const text = unfolded((await anns.send('GET', path)).text);
    await put(anns, path, text.replace('END:VEVENT', `${invited(ZOE)}\r\nEND:VEVENT`));
    expect(await sent('m4')).toEqual([`REQUEST ${ZOE}`]);
    const both = unfolded((await anns.send('GET', path)).text);
    expect(both).toMatch(/PARTSTAT=ACCEPTED[^\r]*bob/);
    await put(anns, path, both.replace(/ATTENDEE[^\r]*zoe@far.example\r\n/, ''));
    expect(await sent('m4')).toEqual([`REQUEST ${ZOE}`, `CANCEL ${ZOE}`]);
  });

  test('attendees whom the program informs itself get no message', async () => {
    const agent = (email: string) => `ATTENDEE;PARTSTAT=NEEDS-ACTION;SCHEDULE-AGENT=CLIENT:mailto:${email}`;
    await put(anns, `${anncal}m5.ics`, meeting('m5', [agent(ZOE)]));
    expect(await sent('m5')).toEqual([]);
  });

  test('the outbox returns when members are busy', async () => {
    await put(anns, `${anncal}m6.ics`, meeting('m6', []));
    const request = [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//Test//EN',
      'METHOD:REQUEST',
      'BEGIN:VFREEBUSY',
      'UID:fb',
      'DTSTAMP:20270301T000000Z',
      'DTSTART:20270302T000000Z',
      'DTEND:20270303T000000Z',
      `ORGANIZER:mailto:${bob.email}`,
      `ATTENDEE:mailto:${ann.email}`,
      'ATTENDEE:mailto:nobody@acme.example',
      'END:VFREEBUSY',
      'END:VCALENDAR',
      '',
    ].join('\r\n');
    const { status, text } = await bobs.send('POST', `${bobs.home('calendars')}outbox/`, request, ICS);
    expect(status).toBe(200);
    expect(text).toContain('FREEBUSY;FBTYPE=BUSY:20270302T090000Z/20270302T');
    expect(valuesOf(text, 'C:request-status')).toEqual(['2.0;Success', '3.7;Invalid calendar user']);
    const report = await anns.report(
      anncal,
      'C:free-busy-query',
      '<C:time-range start="20270302T000000Z" end="20270303T000000Z"/>',
    );
    expect(report.text).toContain('BEGIN:VFREEBUSY');
    expect(report.text).toContain('20270302T090000Z/');
  });

  describe('a new invitation from outside states the response of its user', () => {
    const invitation = (uid: string, person: string, ...more: string[]) =>
      meeting(uid, [person], ...more).replace(/ORGANIZER.*\r\nATTENDEE.*\r\n/, `ORGANIZER:mailto:${YAN}\r\n`);
    const own = (partstat: string, more = ';RSVP=TRUE') =>
      `ATTENDEE;PARTSTAT=${partstat}${more}:mailto:${bob.email}`;
    const create = async (uid: string, text: string): Promise<string[]> => {
      expect((await put(bobs, `${bobcal}${uid}.ics`, text))[0]).toBe(201);
      return sent(uid);
    };

    test.each([
      ['ACCEPTED', ';RSVP=TRUE', [`REPLY ${YAN}`]],
      ['DECLINED', '', [`REPLY ${YAN}`]],
      ['NEEDS-ACTION', ';RSVP=TRUE', []],
      ['DELEGATED', '', []],
    ])('%s', async (partstat, more, expected) => {
      const uid = `first-${partstat}`;
      expect(await create(uid, invitation(uid, own(partstat, more)))).toEqual(expected);
      const [row] = await app.sql(`SELECT ics FROM scheduling_messages WHERE uid = $1`, [uid]);
      if (expected.length > 0) expect(row.ics).toContain(`PARTSTAT=${partstat}`);
      // The same text again sends nothing.
      const { text } = await bobs.send('GET', `${bobcal}${uid}.ics`);
      expect((await put(bobs, `${bobcal}${uid}.ics`, text))[0]).toBe(204);
      expect(await sent(uid)).toEqual(expected);
    });

    test('nothing is sent about what is over, and for programs that send themselves', async () => {
      const past = (text: string) => text.replaceAll('20270302', '20200302');
      expect(await create('first-past', past(invitation('first-past', own('ACCEPTED'))))).toEqual([]);
      const ended = invitation('first-ended', own('ACCEPTED'), 'RRULE:FREQ=DAILY;COUNT=3');
      expect(await create('first-ended', past(ended))).toEqual([]);
      const client = invitation('first-client', own('ACCEPTED')).replace(
        'ORGANIZER',
        'ORGANIZER;SCHEDULE-AGENT=CLIENT',
      );
      expect(await create('first-client', client)).toEqual([]);
      const endless = past(invitation('first-endless', own('ACCEPTED'), 'RRULE:FREQ=WEEKLY'));
      expect(await create('first-endless', endless)).toEqual([`REPLY ${YAN}`]);
    });
  });

  describe('long windows of free/busy requests', () => {
    const request = (from: string, to: string, attendees: string[]) =>
      [
        'BEGIN:VCALENDAR',
        'VERSION:2.0',
        'METHOD:REQUEST',
        'BEGIN:VFREEBUSY',
        'UID:long',
        'DTSTAMP:20270301T000000Z',
        `DTSTART:${from}`,
        `DTEND:${to}`,
        ...attendees.map((email) => `ATTENDEE:mailto:${email}`),
        'END:VFREEBUSY',
        'END:VCALENDAR',
        '',
      ].join('\r\n');
    const ask = (from: string, to: string, attendees = [ann.email]) =>
      bobs.send('POST', `${bobs.home('calendars')}outbox/`, request(from, to, attendees), ICS);
    const report = (from: string, to: string) =>
      anns.report(anncal, 'C:free-busy-query', `<C:time-range start="${from}" end="${to}"/>`);
    const periods = (text: string) =>
      [...text.matchAll(/FREEBUSY[^:\s]*:(\d\S*?\/\S*?Z)/g)].map(([, one]) => one);

    test('are answered whole: a year, more than a hundred attendees, and a period over the end of a part', async () => {
      const long = meeting('long', [])
        .replace('DTSTART:20270302T090000Z', 'DTSTART:20300303T120000Z')
        .replace('DTEND:20270302T100000Z', 'DTEND:20300304T130000Z');
      await put(anns, `${anncal}long.ics`, long);
      const late = meeting('late', []).replaceAll('20270302', '20301201');
      await put(anns, `${anncal}late.ics`, late);
      const expected = ['20300303T120000Z/20300304T130000Z', '20301201T090000Z/20301201T100000Z'];
      // The first part ends 62 days after its start: on 4 March.
      const window = ['20300101T000000Z', '20301231T000000Z'] as const;
      const found = await report(...window);
      expect([found.status, periods(found.text)]).toEqual([200, expected]);
      const many = Array.from({ length: 130 }, (_, n) => `nobody${n}@acme.example`);
      const asked = await ask(...window, [...many, ann.email]);
      expect([asked.status, periods(asked.text)]).toEqual([200, expected]);
      expect(valuesOf(asked.text, 'C:request-status')).toHaveLength(131);
    });

    test('are refused by an error of WebDAV beyond the limit, and as the end precedes the start', async () => {
      const tooLong = ['20300101T000000Z', '20400101T000000Z'] as const;
      for (const { status, text } of [await report(...tooLong), await ask(...tooLong)])
        expect([status, text]).toEqual([
          403,
          expect.stringContaining('<D:number-of-matches-within-limits/>'),
        ]);
      const backwards = await ask('20300102T000000Z', '20300101T000000Z');
      expect([backwards.status, backwards.text]).toEqual([
        400,
        expect.stringContaining('<C:valid-calendar-data/>'),
      ]);
    });
  });
});
