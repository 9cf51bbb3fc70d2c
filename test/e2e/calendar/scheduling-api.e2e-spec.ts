import fc from 'fast-check';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import {
  at,
  defaultCalendar,
  eventPath,
  instancesOf,
  newCalendar,
  newEvent,
} from '../../support/domains/calendars.ts';
import { runs } from '../../support/property-runs.ts';

/** The operations of scheduling, in an installation without a mail service. */
describe('scheduling operations', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let mallory: TestUser;
  let anns: string;
  let bobs: string;
  let base: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    [mallory] = await app.tenant('evil', 'mallory');
    anns = await defaultCalendar(ann);
    bobs = await defaultCalendar(bob);
    base = `/calendar/${bobs}/scheduling`;
  });
  afterAll(() => app?.stop());

  const ZOE = 'zoe@far.example';
  const BOB = 'bob@acme.example';
  const ics = (method: string, lines: string[], uid = 'u1@far.example'): string =>
    [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      `METHOD:${method}`,
      'BEGIN:VEVENT',
      `UID:${uid}`,
      'DTSTAMP:20270101T100000Z',
      ...lines,
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ].join('\r\n');
  const invitation = (uid: string, more: string[] = []) =>
    ics(
      'REQUEST',
      [
        'DTSTART;TZID=Europe/Berlin:20270301T090000',
        'DTEND;TZID=Europe/Berlin:20270301T100000',
        'SUMMARY:Pasted',
        `ORGANIZER:mailto:${ZOE}`,
        `ATTENDEE:mailto:${BOB}`,
        ...more,
      ],
      uid,
    );
  const post = (body: string, person = bob, calendar = bobs) =>
    person.api.post(`/calendar/${calendar}/scheduling/inbox`, undefined, {
      raw: body,
      headers: { 'content-type': 'text/calendar; charset=utf-8' },
    });

  /** Start and end of the instances of an event in March 2027, in UTC. */
  const timesOf = async (uid: string): Promise<string[]> =>
    (await instancesOf(bob, bobs, '2027-02-20', '2027-04-10'))
      .filter((each) => each.uid === uid)
      .map(({ start_utc, end_utc }) => `${start_utc.slice(5, 16)}/${end_utc.slice(11, 16)}`);

  test('the periods of an invitation keep their lengths, in each version', async () => {
    const uid = 'periods@far.example';
    // Lotus Notes writes custom repeats as periods only.
    const periods = (...values: string[]) => [`RDATE;VALUE=PERIOD:${values.join(',')}`];
    const first = periods('20270302T080000Z/PT3H', '20270303T080000Z/20270303T083000Z');
    expect((await post(invitation(uid, first))).body.message.result).toBe('created');
    expect(await timesOf(uid)).toEqual(['03-01T08:00/09:00', '03-02T08:00/11:00', '03-03T08:00/08:30']);
    const second = ['SEQUENCE:1', ...periods('20270302T080000Z/PT4H', '20270303T080000Z/PT1H')];
    expect((await post(invitation(uid, second))).body.message.result).toBe('updated');
    expect(await timesOf(uid)).toEqual(['03-01T08:00/09:00', '03-02T08:00/12:00', '03-03T08:00/09:00']);
  });

  test('a response has the UID of its invitation, also one that is stored as a digest', async () => {
    const uid = `${'0123456789'.repeat(70)}@far.example`;
    const made = await post(invitation(uid));
    expect(made.body.message.result).toBe('created');
    expect((await post(invitation(uid, ['SEQUENCE:1', 'LOCATION:Hall']))).body.message.result).toBe(
      'updated',
    );
    const path = eventPath(bobs, made.body.event);
    expect((await bob.api.put(`${path}/rsvp`, { response: 'accepted' })).status).toBe(200);
    await app.get(OutboxWorker).drain();
    const replies = await app.sql(
      `SELECT ics FROM scheduling_messages WHERE event_id = $1 AND method = 'REPLY'`,
      [made.body.event.id],
    );
    expect(replies.map(({ ics: text }) => text.replaceAll('\r\n ', '').includes(`UID:${uid}\r\n`))).toEqual([
      true,
    ]);
  });

  test('midnight in RECURRENCE-ID names the only instance of its day', async () => {
    const uid = 'midnight@far.example';
    const rule = ['RRULE:FREQ=DAILY;COUNT=4'];
    await post(invitation(uid, rule));
    const moved = invitation(uid, ['RECURRENCE-ID;TZID=Europe/Berlin:20270302T000000', 'SEQUENCE:1'])
      .replace('DTSTART;TZID=Europe/Berlin:20270301T09', 'DTSTART;TZID=Europe/Berlin:20270302T15')
      .replace('DTEND;TZID=Europe/Berlin:20270301T10', 'DTEND;TZID=Europe/Berlin:20270302T16');
    expect((await post(moved)).body.message.result).toBe('updated');
    expect(await timesOf(uid)).toEqual([
      '03-01T08:00/09:00',
      '03-02T14:00/15:00',
      '03-03T08:00/09:00',
      '03-04T08:00/09:00',
    ]);
    const cancel = ics(
      'CANCEL',
      [
        'RECURRENCE-ID;TZID=Europe/Berlin:20270303T000000',
        'SEQUENCE:1',
        `ORGANIZER:mailto:${ZOE}`,
        `ATTENDEE:mailto:${BOB}`,
      ],
      uid,
    );
    expect((await post(cancel)).body.message.result).toBe('cancelled');
    expect(await timesOf(uid)).toEqual(['03-01T08:00/09:00', '03-02T14:00/15:00', '03-04T08:00/09:00']);
  });

  test('an uploaded invitation creates the placement of its user, as text and as JSON', async () => {
    const made = await post(invitation('upload@far.example'));
    expect([made.status, made.body]).toEqual([
      201,
      {
        message: expect.objectContaining({
          result: 'created',
          direction: 'in',
          from: '',
          uid: 'upload@far.example',
        }),
        event: expect.objectContaining({ title: 'Pasted', calendar_id: bobs, my_response: 'needs_action' }),
      },
    ]);
    const again = await bob.api.post(`${base}/inbox`, { ics: invitation('upload@far.example'), from: ZOE });
    expect([again.status, again.body.message.result]).toEqual([200, 'ignored_duplicate']);
    const { body } = await bob.api.get(`${base}/messages/${made.body.message.id}`);
    expect(body.message.ics).toBe(invitation('upload@far.example'));
    expect(body.message.parsed).toEqual({
      title: 'Pasted',
      start: '20270301T090000 Europe/Berlin',
      organizer: ZOE,
      attendees: [{ email: bob.email, response: 'NEEDS-ACTION' }],
      comment: '',
      components: 1,
    });
    // An upload proves no sender: it changes no event that other members see.
    const shared = invitation('upload@far.example').replace('20270101T100000Z', '20270102T100000Z');
    expect((await post(shared.replace(bob.email, ann.email), ann, anns)).body.error).toBe('sender_mismatch');
  });

  test('PUBLISH creates an event without organizer; ADD, CANCEL and DECLINECOUNTER of unknown events are ignored', async () => {
    const published = await post(ics('PUBLISH', ['DTSTART:20270301T090000Z', 'SUMMARY:Timetable'], 'p1'));
    expect([published.status, published.body.event.title]).toEqual([201, 'Timetable']);
    for (const method of ['ADD', 'CANCEL', 'DECLINECOUNTER']) {
      const { status, body } = await post(
        ics(method, ['DTSTART:20270301T090000Z', `ORGANIZER:mailto:${ZOE}`], 'nowhere'),
      );
      expect([status, body.message.result, body.event]).toEqual([200, 'ignored_unknown', null]);
    }
  });

  test('an instance of a published series is not removed alone, and its removal does not remove the series', async () => {
    const lines = ['DTSTART:20270301T090000Z', 'RRULE:FREQ=DAILY;COUNT=3', 'SUMMARY:Timetable'];
    const { event } = (await post(ics('PUBLISH', lines, 'p2'))).body;
    const refused = await bob.api.delete(`${eventPath(bobs, event)}_20270302T090000Z`);
    expect([refused.status, refused.body.error]).toEqual([403, 'forbidden']);
    expect((await bob.api.get(eventPath(bobs, event))).body.event.title).toBe('Timetable');
    expect((await bob.api.delete(eventPath(bobs, event))).status).toBe(200);
    expect((await bob.api.get(eventPath(bobs, event))).status).toBe(404);
  });

  test.each([
    [422, 'invalid_ics', 'no calendar'],
    [422, 'invalid_ics', ics('REQUEST', []).replace('UID:u1@far.example\r\n', '')],
    [422, 'invalid_ics', invitation('r1').replace('20270301T090000', 'soon')],
    [422, 'invalid_ics', invitation('r2').replace('DTSTART;TZID=Europe/Berlin:20270301T090000\r\n', '')],
    [422, 'unknown_method', ics('DANCE', [])],
    [422, 'unknown_method', ics('REQUEST', []).replace('METHOD:REQUEST\r\n', '')],
    [422, 'multiple_uids', ics('REQUEST', ['END:VEVENT', 'BEGIN:VEVENT', 'UID:u2'])],
    [403, 'sender_mismatch', ics('REPLY', ['ATTENDEE;PARTSTAT=ACCEPTED:mailto:zoe@far.example'])],
  ])('%d %s', async (status, error, text) => {
    const response = await post(text);
    expect([response.status, response.body.error]).toEqual([status, error]);
  });

  test.each([
    ['no_organizer', ics('REQUEST', ['DTSTART:20270301T090000Z'])],
    ['invalid_rule', invitation('r4', ['RRULE:FREQ=SOMETIMES'])],
    ['frequency_unsupported', invitation('r5', ['RRULE:FREQ=SECONDLY'])],
    [
      'no_instances',
      invitation('r6', ['RRULE:FREQ=DAILY;COUNT=1', 'EXDATE;TZID=Europe/Berlin:20270301T090000']),
    ],
  ])('a message with %s is recorded as rejected and writes no event', async (reason, text) => {
    const { status, body } = await post(text);
    expect([status, body.message.result, body.message.reason, body.event]).toEqual([
      200,
      'rejected',
      reason,
      null,
    ]);
  });

  test('any bytes are applied, recorded or rejected with a code', async () => {
    const line = fc.oneof(
      fc.constantFrom(
        'BEGIN:VEVENT',
        'END:VEVENT',
        'RRULE:FREQ=DAILY;COUNT=3',
        'RRULE:FREQ=YEARLY;BYDAY=-9999MO',
        'RDATE;VALUE=DATE:20270101,20270102',
        'EXDATE:20270301T080000Z',
        'DTSTART;VALUE=DATE:20270301',
        'DTSTART:99991231T235959Z',
        'DTEND:19000101T000000Z',
        'DURATION:-PT1H',
        'RECURRENCE-ID;RANGE=THISANDFUTURE:20270301T080000Z',
        'SEQUENCE:99999999999',
        'STATUS:CANCELLED',
        'ATTENDEE;PARTSTAT=X\0Y:mailto:zoe@far.example',
        'ATTENDEE;DELEGATED-FROM="mailto:zoe@far.example":mailto:kim@far.example',
      ),
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc
        .tuple(
          fc.constantFrom('SUMMARY', 'COMMENT', 'LOCATION', 'X-A', 'DTSTART'),
          fc.string({ unit: 'binary' }),
        )
        .map(([name, value]) => `${name}:${value}`),
    );
    const structured = fc
      .tuple(
        fc.constantFrom(
          'REQUEST',
          'REPLY',
          'CANCEL',
          'ADD',
          'COUNTER',
          'REFRESH',
          'PUBLISH',
          'DECLINECOUNTER',
        ),
        fc.array(line, { maxLength: 8 }),
        fc.constantFrom('f1', 'f2', 'upload@far.example'),
      )
      .map(([method, lines, uid]) =>
        ics(
          method,
          ['DTSTART:20270301T080000Z', `ORGANIZER:mailto:${ZOE}`, `ATTENDEE:mailto:${bob.email}`, ...lines],
          uid,
        ),
      );
    const bytes = fc.oneof(
      { weight: 4, arbitrary: structured.map((text) => Buffer.from(text)) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((data) => Buffer.from(data)) },
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (given) => {
        const { status, body } = await bob.api.post(`${base}/inbox`, undefined, {
          raw: given,
          headers: { 'content-type': 'text/calendar' },
        });
        expect([200, 201, 403, 422]).toContain(status);
        expect(status < 300 ? body.message.result : body.error).toEqual(expect.any(String));
      }),
      { numRuns: runs(150) },
    );
    expect((await bob.api.get(`${base}/messages`)).status).toBe(200);
    const window = `/calendar/${bobs}/instances?from=2027-01-01&to=2027-12-31&limit=1000`;
    expect((await bob.api.get(window)).status).toBe(200);
  });

  test('without a mail service a message has failed, and sending by hand is 503 no_mail', async () => {
    const event = await newEvent(ann, anns, {
      title: 'M',
      start: at('2027-03-01T09:00:00'),
      attendees: [ZOE, bob.id],
    });
    await app.get(OutboxWorker).drain();
    const outbox = `/calendar/${anns}/scheduling/outbox`;
    const { messages } = (await ann.api.get(`/calendar/${anns}/scheduling/messages?direction=out`)).body;
    expect(messages[0]).toMatchObject({
      method: 'REQUEST',
      result: 'failed',
      reason: 'no_mail',
      recipients: [{ email: ZOE, channel: 'mail', status: 'failed', error: 'no_mail', sent_at: null }],
    });
    const seen = (await ann.api.get(eventPath(anns, event))).body.event;
    expect(seen.attendees.find(({ email }: any) => email === ZOE).delivery).toBe('failed');
    const send = async (body: object, person = ann, path = outbox) => {
      const response = await person.api.post(path, { event_id: event.id, ...body });
      return [response.status, response.body.error];
    };
    expect(await send({ method: 'REQUEST' })).toEqual([503, 'no_mail']);
    expect(await send({ method: 'REPLY' })).toEqual([403, 'method_not_allowed']);
    expect(await send({ method: 'REQUEST', recipients: ['eve@far.example'] })).toEqual([
      422,
      'unknown_recipient',
    ]);
    expect(await send({ method: 'REQUEST', recipients: [bob.email] })).toEqual([422, 'unknown_recipient']);
    expect(await send({ method: 'PUBLISH' })).toEqual([422, 'unknown_recipient']);
    expect(await send({ method: 'DANCE' })).toEqual([422, 'validation_failed']);
    expect(await send({ method: 'REQUEST', recurrence_id: '2027-03-02' })).toEqual([422, 'not_an_instance']);
    expect(await send({ method: 'REQUEST' }, bob, `${base}/outbox`)).toEqual([403, 'method_not_allowed']);
    expect(await send({ method: 'REQUEST', event_id: ann.id })).toEqual([404, 'not_found']);
  });

  test('messages are listed for the owner of the calendar alone, in pages, by filters', async () => {
    const shares = [{ user_id: bob.id, role: 'writer' }];
    const team = await newCalendar(ann, 'Team', shares);
    for (const [person, path, expected] of [
      [bob, `/calendar/${team}/scheduling/messages`, 403],
      [bob, `/calendar/${anns}/scheduling/messages`, 404],
      [mallory, `${base}/messages`, 404],
    ] as const)
      expect((await person.api.get(path)).status).toBe(expected);
    const { messages } = (await bob.api.get(`${base}/messages?limit=200`)).body;
    expect(messages.length).toBeGreaterThan(3);
    const pages: any[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: any = await bob.api.get(`${base}/messages?limit=2${cursor && `&cursor=${cursor}`}`);
      pages.push(...body.messages);
      cursor = pages.length < messages.length ? body.next : null;
    }
    expect(pages.map(({ id }) => id)).toEqual(messages.map(({ id }: any) => id));
    const created = (
      await bob.api.get(`${base}/messages?result=created&method=REQUEST&uid=upload@far.example`)
    ).body;
    // The random uploads above may have cancelled the event and created it again.
    expect(new Set(created.messages.map(({ uid }: any) => uid))).toEqual(new Set(['upload@far.example']));
    expect((await bob.api.get(`${base}/messages?since=2099-01-01T00:00:00Z`)).body.messages).toEqual([]);
    expect((await bob.api.get(`${base}/messages?since=2099-01-01t00:00:00z`)).body.messages).toEqual([]);
    expect((await bob.api.get(`${base}/messages?since=soon`)).status).toBe(422);
    expect((await bob.api.get(`${base}/messages/${ann.id}`)).body.error).toBe('not_found');
    expect((await mallory.api.get(`${base}/messages/${messages[0].id}`)).status).toBe(404);
    expect((await bob.api.post(`${base}/inbox`, {})).status).toBe(422);
    expect((await bob.api.post(`${base}/inbox`, [])).status).toBe(400);
  });
});
