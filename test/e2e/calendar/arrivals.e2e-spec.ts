import { v7 as uuidv7 } from 'uuid';
import { IncomingMessages } from '../../../src/modules/calendar/scheduling/incoming-messages.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { at, defaultCalendar, eventPath, instancesOf, newEvent } from '../../support/domains/calendars.ts';

const KIM = 'kim@far.example';
const BEN = 'ben@far.example';

/** The order in which messages about one event arrive at several members, and at one of them. */
describe('arriving messages', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
  });
  afterAll(() => app?.stop());

  /** The result of a mail from outside. */
  const arrive = async (to: TestUser, from: string, method: string, events: string[][]) => {
    const lines = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Far//EN', `METHOD:${method}`];
    for (const event of events) lines.push('BEGIN:VEVENT', ...event, 'END:VEVENT');
    const message = await app.get<IncomingMessages>(IncomingMessages).receive({
      tenantId: to.tenantId as string,
      userId: to.id,
      calendarId: null,
      bytes: Buffer.from([...lines, 'END:VCALENDAR', ''].join('\r\n')),
      from,
      isProven: true,
      method,
      isAuthentic: null,
      dedupeKey: uuidv7(),
    });
    return message?.reason ? `${message.result} ${message.reason}` : message?.result;
  };
  const attendee = (email: string, more = 'PARTSTAT=NEEDS-ACTION;RSVP=TRUE') =>
    `ATTENDEE;${more}:mailto:${email}`;
  /** A version of an event of Kim. @param second of its DTSTAMP */
  const version = (uid: string, sequence: number, second: number, ...more: string[]): string[] => [
    `UID:${uid}`,
    `SEQUENCE:${sequence}`,
    `DTSTAMP:20260101T0000${String(second).padStart(2, '0')}Z`,
    `ORGANIZER:mailto:${KIM}`,
    ...more,
  ];
  const TIMES = ['DTSTART:20280410T090000Z', 'DTEND:20280410T100000Z'];
  const eventOf = async (person: TestUser, uid: string): Promise<any> => {
    const calendar = await defaultCalendar(person);
    return (await person.api.get(`/calendar/${calendar}/events?uid=${uid}&show_cancelled=true`)).body
      .events[0];
  };

  describe('a colleague got a newer version first', () => {
    test.each([
      ['a later DTSTAMP', 0],
      ['a higher SEQUENCE', 1],
    ])('%s: who is invited by an older copy gets the current event', async (_name, sequence) => {
      const uid = uuidv7();
      const both = [attendee(ann.email), attendee(bob.email)];
      const newer = version(uid, sequence, 5, ...both, ...TIMES, 'SUMMARY:Current');
      expect(await arrive(bob, KIM, 'REQUEST', [newer])).toBe('created');
      const older = version(uid, 0, 1, ...both, ...TIMES, 'SUMMARY:Old');
      expect(await arrive(ann, KIM, 'REQUEST', [older])).toBe('created');
      expect(await eventOf(ann, uid)).toMatchObject({ title: 'Current', my_response: 'needs_action' });
      // The same message again, and an older one for a member who has the event, change nothing.
      expect(await arrive(bob, KIM, 'REQUEST', [older])).toBe('ignored_stale');
    });

    test('who is invited to a date only gets the current version of this date', async () => {
      const uid = uuidv7();
      const date = ['RECURRENCE-ID:20280417T090000Z', 'DTSTART:20280417T120000Z', 'DTEND:20280417T130000Z'];
      const series = version(uid, 0, 5, attendee(bob.email), ...TIMES, 'RRULE:FREQ=WEEKLY;COUNT=3');
      const one = (second: number, title: string) =>
        version(uid, 0, second, attendee(bob.email), attendee(ann.email), ...date, `SUMMARY:${title}`);
      expect(await arrive(bob, KIM, 'REQUEST', [series, one(5, 'Current')])).toBe('created');
      expect(await arrive(ann, KIM, 'REQUEST', [one(1, 'Old')])).toBe('created');
      const shown = await instancesOf(ann, await defaultCalendar(ann), '2028-04-01', '2028-05-01');
      expect(shown.filter((each) => each.uid === uid).map(({ title }) => title)).toEqual(['Current']);
    });

    test('who is no longer invited, and whom the event is cancelled for, gets nothing', async () => {
      const uid = uuidv7();
      const newer = version(uid, 1, 5, attendee(bob.email), ...TIMES);
      expect(await arrive(bob, KIM, 'REQUEST', [newer])).toBe('created');
      const older = version(uid, 0, 1, attendee(ann.email), attendee(bob.email), ...TIMES);
      expect(await arrive(ann, KIM, 'REQUEST', [older])).toBe('ignored_stale');
      expect(await eventOf(ann, uid)).toBeUndefined();

      const other = uuidv7();
      const people = [attendee(ann.email), attendee(bob.email)];
      expect(await arrive(bob, KIM, 'REQUEST', [version(other, 0, 1, ...people, ...TIMES)])).toBe('created');
      expect(await arrive(bob, KIM, 'CANCEL', [version(other, 1, 5, ...people, ...TIMES)])).toBe('cancelled');
      expect(await arrive(ann, KIM, 'REQUEST', [version(other, 0, 1, ...people, ...TIMES)])).toBe(
        'ignored_stale',
      );
      expect(await eventOf(ann, other)).toBeUndefined();
    });

    test('an older cancellation removes the attendee whom the current version does not name', async () => {
      const uid = uuidv7();
      const both = version(uid, 0, 1, attendee(ann.email), attendee(bob.email), ...TIMES);
      for (const person of [ann, bob]) expect(await arrive(person, KIM, 'REQUEST', [both])).toBe('created');
      expect(await arrive(bob, KIM, 'REQUEST', [version(uid, 1, 9, attendee(bob.email), ...TIMES)])).toBe(
        'updated',
      );
      const removal = version(uid, 1, 5, attendee(ann.email), ...TIMES);
      expect(await arrive(ann, KIM, 'CANCEL', [removal])).toBe('cancelled');
      expect(await eventOf(ann, uid)).toBeUndefined();
      expect(await eventOf(bob, uid)).toMatchObject({ status: 'confirmed' });
    });
  });

  describe('a cancellation that names others than its recipient', () => {
    const ZOE = 'zoe@far.example';
    const LIST = 'list@far.example';
    const WEEKLY = [...TIMES, 'RRULE:FREQ=WEEKLY;COUNT=3'];
    const invited = async (uid: string, people: string[], times = TIMES) => {
      const event = version(uid, 0, 1, ...people.map((email) => attendee(email)), ...times);
      expect(await arrive(ann, KIM, 'REQUEST', [event])).toBe('created');
    };
    const emailsOf = ({ attendees }: any) => attendees.map(({ email }: any) => email);

    test('removes them, and keeps the meeting of the recipient', async () => {
      const uid = uuidv7();
      await invited(uid, [ann.email, ZOE]);
      const removal = version(uid, 1, 5, attendee(ZOE), ...TIMES);
      expect(await arrive(ann, KIM, 'CANCEL', [removal])).toBe('updated');
      const event = await eventOf(ann, uid);
      expect([event.status, emailsOf(event)]).toEqual(['confirmed', [ann.email]]);
    });

    test('removes them from an instance only', async () => {
      const uid = uuidv7();
      await invited(uid, [ann.email, ZOE], WEEKLY);
      const date = ['RECURRENCE-ID:20280417T090000Z', 'DTSTART:20280417T090000Z'];
      expect(await arrive(ann, KIM, 'CANCEL', [version(uid, 1, 5, attendee(ZOE), ...date)])).toBe('updated');
      const shown = await instancesOf(ann, await defaultCalendar(ann), '2028-04-01', '2028-05-01');
      const found = shown.filter((each) => each.uid === uid);
      expect(found.map(({ status }) => status)).toEqual(['confirmed', 'confirmed', 'confirmed']);
      const path = eventPath(await defaultCalendar(ann), await eventOf(ann, uid));
      const one = await ann.api.get(`${path}?recurrence_id=2028-04-17T09:00:00Z`);
      expect(emailsOf(one.body.event)).toEqual([ann.email]);
    });

    test('that has removed them before changes nothing', async () => {
      const uid = uuidv7();
      await invited(uid, [ann.email, ZOE]);
      const update = version(uid, 1, 4, attendee(ann.email), ...TIMES);
      expect(await arrive(ann, KIM, 'REQUEST', [update])).toBe('updated');
      const removal = version(uid, 1, 5, attendee(ZOE), ...TIMES);
      expect(await arrive(ann, KIM, 'CANCEL', [removal])).toBe('ignored_stale');
      expect(await eventOf(ann, uid)).toMatchObject({ status: 'confirmed' });
    });

    test.each([
      ['the whole event', [ZOE], ['STATUS:CANCELLED']],
      ['a mailing list', [LIST], []],
      ['nobody', [], []],
    ])('cancels the meeting where it is about %s', async (_, named, more) => {
      const uid = uuidv7();
      await invited(uid, [ann.email, ZOE]);
      const cancel = version(uid, 1, 5, ...named.map((email) => attendee(email)), ...TIMES, ...more);
      expect(await arrive(ann, KIM, 'CANCEL', [cancel])).toBe('cancelled');
      expect((await eventOf(ann, uid))?.status ?? 'cancelled').toBe('cancelled');
    });
  });

  test('who sends messages is no part of a message (RFC 6638, 7.1): the response is sent', async () => {
    const uid = uuidv7();
    const stated = version(uid, 0, 1, attendee(ann.email), ...TIMES).map((line) =>
      line.replace('ORGANIZER:', 'ORGANIZER;SCHEDULE-AGENT=CLIENT:'),
    );
    expect(await arrive(ann, KIM, 'REQUEST', [stated])).toBe('created');
    const path = `${eventPath(await defaultCalendar(ann), await eventOf(ann, uid))}/rsvp`;
    expect((await ann.api.put(path, { response: 'accepted' })).status).toBe(200);
    await app.get<OutboxWorker>(OutboxWorker).drain();
    const rows = await app.sql(
      `SELECT method, ics FROM scheduling_messages WHERE uid = $1 AND direction = 'out'`,
      [uid],
    );
    expect(rows.map(({ method }) => method)).toEqual(['REPLY']);
  });

  describe('dates of a series before the series', () => {
    const date = (uid: string, second: number, day: string, response = 'NEEDS-ACTION') =>
      version(
        uid,
        0,
        second,
        attendee(ann.email, `PARTSTAT=${response};RSVP=TRUE`),
        `RECURRENCE-ID:${day}T090000Z`,
        `DTSTART:${day}T120000Z`,
        `DTEND:${day}T130000Z`,
      );
    const weekly = (uid: string, second: number) => [
      ...version(uid, 0, second, attendee(ann.email), attendee(bob.email)),
      'DTSTART:20280301T090000Z',
      'DTEND:20280301T100000Z',
      'RRULE:FREQ=WEEKLY;COUNT=4',
    ];
    const responses = async (uid: string) =>
      (await instancesOf(ann, await defaultCalendar(ann), '2028-03-01', '2028-04-01'))
        .filter((each) => each.uid === uid)
        .map(({ my_response }) => my_response);
    const respond = async (uid: string, fields: object) => {
      const event = await eventOf(ann, uid);
      const path = `${eventPath(await defaultCalendar(ann), event)}/rsvp`;
      const { status } = await ann.api.put(path, fields);
      expect(status).toBe(200);
    };

    test.each([
      ['alone', 'NEEDS-ACTION', false],
      ['with the accepted date', 'ACCEPTED', true],
    ])(
      'the response to the known date is none to the series, which arrives %s',
      async (_name, stated, both) => {
        const uid = uuidv7();
        expect(await arrive(ann, KIM, 'REQUEST', [date(uid, 1, '20280308')])).toBe('created');
        await respond(uid, { response: 'accepted' });
        const arrived = [weekly(uid, 9), ...(both ? [date(uid, 9, '20280308', stated)] : [])];
        expect(await arrive(ann, KIM, 'REQUEST', arrived)).toBe('updated');
        expect((await eventOf(ann, uid)).my_response).toBe('needs_action');
        expect(await responses(uid)).toEqual(['needs_action', 'accepted', 'needs_action', 'needs_action']);
      },
    );

    test('responses to several dates stay those of each', async () => {
      const uid = uuidv7();
      for (const day of ['20280308', '20280315'])
        expect(await arrive(ann, KIM, 'REQUEST', [date(uid, 1, day)])).toMatch(/created|updated/);
      await respond(uid, { response: 'accepted' });
      await respond(uid, { response: 'declined', scope: 'this', recurrence_id: '2028-03-15T09:00:00Z' });
      expect(await arrive(ann, KIM, 'REQUEST', [weekly(uid, 9)])).toBe('updated');
      expect(await responses(uid)).toEqual(['needs_action', 'accepted', 'declined', 'needs_action']);
    });
  });

  describe('invited again after a cancellation', () => {
    const respond = async (event: any, response: string) => {
      const path = `${eventPath(await defaultCalendar(ann), event)}/rsvp`;
      expect((await ann.api.put(path, { response })).status).toBe(200);
    };

    test.each(['accepted', 'declined'])('the former response %s does not count', async (response) => {
      const uid = uuidv7();
      const at = (second: number, ...more: string[]) =>
        version(uid, second, second, attendee(ann.email), ...TIMES, ...more);
      await arrive(ann, KIM, 'REQUEST', [at(0)]);
      await respond(await eventOf(ann, uid), response);
      expect(await arrive(ann, KIM, 'CANCEL', [at(1)])).toBe('cancelled');
      expect(await arrive(ann, KIM, 'REQUEST', [at(2)])).toBe('created');
      expect(await eventOf(ann, uid)).toMatchObject({ status: 'confirmed', my_response: 'needs_action' });
      // A new version without a cancellation keeps the response.
      await respond(await eventOf(ann, uid), response);
      expect(await arrive(ann, KIM, 'REQUEST', [at(3, 'SUMMARY:New')])).toBe('updated');
      expect(await eventOf(ann, uid)).toMatchObject({ title: 'New', my_response: response });
    });

    test('to one date of a series', async () => {
      const uid = uuidv7();
      const rule = 'RRULE:FREQ=WEEKLY;COUNT=3';
      await arrive(ann, KIM, 'REQUEST', [version(uid, 0, 0, attendee(ann.email), ...TIMES, rule)]);
      await respond(await eventOf(ann, uid), 'accepted');
      const date = ['RECURRENCE-ID:20280417T090000Z', 'DTSTART:20280417T090000Z', 'DTEND:20280417T100000Z'];
      const one = (second: number) => version(uid, second, second, attendee(ann.email), ...date);
      expect(await arrive(ann, KIM, 'CANCEL', [one(1)])).toBe('cancelled');
      expect(await arrive(ann, KIM, 'REQUEST', [one(2)])).toBe('updated');
      const shown = await instancesOf(ann, await defaultCalendar(ann), '2028-04-01', '2028-05-01');
      expect(shown.filter((each) => each.uid === uid).map(({ my_response }) => my_response)).toEqual([
        'accepted',
        'needs_action',
        'accepted',
      ]);
    });
  });

  test('the recipient is found behind the limit of attendees', async () => {
    const uid = uuidv7();
    const others = Array.from({ length: 600 }, (_, n) => attendee(`guest${n}@far.example`));
    const request = (second: number, title: string) =>
      version(uid, 0, second, ...others, attendee(ann.email), ...TIMES, `SUMMARY:${title}`);
    expect(await arrive(ann, KIM, 'REQUEST', [request(0, 'Town hall')])).toBe('created');
    expect(await arrive(ann, KIM, 'REQUEST', [request(1, 'Hall')])).toBe('updated');
    expect(await eventOf(ann, uid)).toMatchObject({ title: 'Hall', my_response: 'needs_action' });
    const [{ n }] = await app.sql(
      `SELECT count(*)::int AS n FROM event_participants
        WHERE event_id = (SELECT id FROM calendar_events WHERE uid = $1)`,
      [uid],
    );
    expect(n).toBe(500);
  });

  test('an organizer who refuses proposals gets none', async () => {
    const uid = uuidv7();
    const refusal = 'X-MICROSOFT-DISALLOW-COUNTER:TRUE';
    const request = (second: number, ...more: string[]) =>
      arrive(ann, KIM, 'REQUEST', [version(uid, 0, second, attendee(ann.email), ...TIMES, ...more)]);
    await request(0, refusal);
    expect((await eventOf(ann, uid)).proposals_allowed).toBe(false);
    await request(1);
    expect((await eventOf(ann, uid)).proposals_allowed).toBe(true);
    await request(2, refusal);
    const event = await eventOf(ann, uid);
    const proposal = { start: '2028-04-11T09:00:00Z', end: '2028-04-11T10:00:00Z' };
    const path = `${eventPath(await defaultCalendar(ann), event)}/proposals`;
    expect((await ann.api.post(path, proposal)).status).toBe(403);
  });

  test.each([
    ['the note of Google', ['ATTENDEE;PARTSTAT=DECLINED;X-RESPONSE-COMMENT="Ill, sorry"'], 'Ill, sorry'],
    ['a comment before the note', ['COMMENT:Ill', 'ATTENDEE;PARTSTAT=DECLINED;X-RESPONSE-COMMENT=No'], 'Ill'],
    [
      'several comments',
      ['COMMENT:Ill\\n', 'COMMENT:', 'COMMENT:\\nUntil Monday ', 'ATTENDEE;PARTSTAT=DECLINED'],
      'Ill\nUntil Monday',
    ],
  ])('a response with %s', async (_name, lines, comment) => {
    const calendar = await defaultCalendar(ann);
    const event = await newEvent(ann, calendar, {
      start: '2028-04-10T09:00:00Z',
      end: '2028-04-10T10:00:00Z',
      attendees: [BEN],
    });
    const given = lines.map((text) => (text.startsWith('ATTENDEE') ? `${text}:mailto:${BEN}` : text));
    const reply = [`UID:${event.uid}`, 'DTSTAMP:20260101T000000Z', `ORGANIZER:mailto:${ann.email}`, ...given];
    expect(await arrive(ann, BEN, 'REPLY', [reply])).toBe('reply_recorded');
    const { attendees } = await eventOf(ann, event.uid);
    expect(attendees).toMatchObject([{ email: BEN, response: 'declined', comment }]);
    const path = `/calendar/${calendar}/scheduling/messages?direction=in&uid=${event.uid}`;
    expect((await ann.api.get(path)).body.messages[0].parsed.comment).toBe(comment);
  });

  describe('proposals of an attendee of a series', () => {
    const series = async (): Promise<any> =>
      newEvent(ann, await defaultCalendar(ann), {
        title: 'Weekly',
        start: at('2028-03-01T09:00:00'),
        duration: 'PT1H',
        rrule: 'FREQ=WEEKLY;COUNT=5',
        attendees: [BEN],
        send_updates: 'none',
      });
    const counter = (uid: string, second: number, sequence: number, day?: string) =>
      arrive(ann, BEN, 'COUNTER', [
        [
          `UID:${uid}`,
          `SEQUENCE:${sequence}`,
          `DTSTAMP:20260101T0000${String(second).padStart(2, '0')}Z`,
          `ORGANIZER:mailto:${ann.email}`,
          attendee(BEN, 'PARTSTAT=TENTATIVE'),
          ...(day ? [`RECURRENCE-ID:${day}T080000Z`] : ['RRULE:FREQ=WEEKLY;COUNT=5']),
          `DTSTART:${day ?? '20280301'}T150000Z`,
          `DTEND:${day ?? '20280301'}T160000Z`,
        ],
      ]);
    const change = async (event: any, fields: object) => {
      const path = eventPath(await defaultCalendar(ann), event);
      expect((await ann.api.put(path, { send_updates: 'none', ...fields })).status).toBe(200);
    };

    test('a date and the series keep their version when another date moves or goes', async () => {
      const event = await series();
      const moved = { scope: 'this', recurrence_id: at('2028-03-15T09:00:00') };
      await change(event, { ...moved, start: at('2028-03-15T13:00:00'), end: at('2028-03-15T14:00:00') });
      expect(await counter(event.uid, 1, 0, '20280322')).toBe('counter_recorded');
      expect(await counter(event.uid, 2, 0)).toBe('counter_recorded');
      const path = eventPath(await defaultCalendar(ann), event);
      const gone = { scope: 'this', recurrence_id: at('2028-03-08T09:00:00'), send_updates: 'none' };
      expect((await ann.api.delete(path, gone)).status).toBe(200);
      expect(await counter(event.uid, 3, 0, '20280322')).toBe('counter_recorded');
      // The date that moved has a later version.
      expect(await counter(event.uid, 4, 0, '20280315')).toBe('ignored_stale older_sequence');
    });

    test('a series that moved, and a cancelled date, get no proposals about the version before', async () => {
      const event = await series();
      await change(event, { scope: 'this', recurrence_id: at('2028-03-08T09:00:00'), status: 'cancelled' });
      expect(await counter(event.uid, 1, 0, '20280308')).toBe('ignored_stale older_sequence');
      await change(event, { start: at('2028-03-01T10:00:00'), end: at('2028-03-01T11:00:00') });
      expect(await counter(event.uid, 2, 0)).toBe('ignored_stale older_sequence');
      expect(await counter(event.uid, 3, 1)).toBe('ignored_stale older_sequence');
      expect(await counter(event.uid, 4, 2)).toBe('counter_recorded');
    });
  });
});
