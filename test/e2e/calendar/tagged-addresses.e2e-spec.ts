import { v7 as uuidv7 } from 'uuid';
import { IncomingMessages } from '../../../src/modules/calendar/scheduling/incoming-messages.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient } from '../../support/dav/dav-client.ts';
import { defaultCalendar, eventPath, newEvent } from '../../support/domains/calendars.ts';

const START = '2027-03-02T09:00:00Z';
const END = '2027-03-02T10:00:00Z';
const ADA = 'ada@far.example';

/** Members by other addresses than their own: with a tag, and as delegates of attendees outside of the workspace. */
describe('addresses of members', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let anns: string;
  let bobs: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    anns = await defaultCalendar(ann);
    bobs = await defaultCalendar(bob);
  });
  afterAll(() => app?.stop());

  const meeting = (attendees: string[]): Promise<any> =>
    newEvent(ann, anns, { title: 'M', start: START, end: END, attendees });
  const people = ({ attendees }: any): string[] => attendees.map(({ email }: any) => email);
  const eventOf = async (person: TestUser, calendar: string, uid: string): Promise<any> =>
    (await person.api.get(`/calendar/${calendar}/events?uid=${uid}`)).body.events[0];
  const mailsAbout = async (uid: string): Promise<string[]> => {
    await app.get(OutboxWorker).drain();
    const rows = await app.sql(
      `SELECT delivery.recipient FROM scheduling_messages message
         JOIN scheduling_deliveries delivery ON delivery.message_id = message.id
        WHERE message.uid = $1 AND message.direction = 'out'`,
      [uid],
    );
    return rows.map(({ recipient }) => recipient);
  };
  const tagged = 'Bob+cal@acme.example';

  test('an address with a tag is that of the member, once', async () => {
    const event = await meeting([tagged, bob.email, 'bob+other@acme.example', bob.id]);
    expect(event.attendees).toMatchObject([{ email: bob.email, user_id: bob.id }]);
    expect(await eventOf(bob, bobs, event.uid)).toMatchObject({ title: 'M', my_response: 'needs_action' });
    expect(await mailsAbout(event.uid)).toEqual([]);

    const later = await meeting([]);
    const { body } = await ann.api.put(eventPath(anns, later), { attendees: [tagged] });
    expect(people(body.event)).toEqual([bob.email]);
    expect((await eventOf(bob, bobs, later.uid)).title).toBe('M');

    const operations = [{ op: 'create', event: { title: 'B', start: START, end: END, attendees: [tagged] } }];
    const batch = await ann.api.post(`/calendar/${anns}/events/batch`, { operations });
    expect(people(batch.body.results[0].event)).toEqual([bob.email]);
  });

  test('an address whose tag another member has is that of the other member', async () => {
    const [cat, own] = await app.tenant('tags', 'cat', 'cat+own');
    const calendar = await defaultCalendar(cat);
    const event = await newEvent(cat, calendar, {
      start: START,
      end: END,
      attendees: ['cat+own@tags.example', 'cat+else@tags.example', 'dan+own@tags.example'],
    });
    expect(event.attendees.map(({ email, user_id }: any) => [email, user_id])).toEqual([
      ['cat+own@tags.example', own.id],
      ['cat@tags.example', cat.id],
      ['dan+own@tags.example', null],
    ]);
  });

  test('free/busy and polls', async () => {
    await newEvent(bob, bobs, { title: 'Busy', start: '2027-04-06T09:00:00Z', end: '2027-04-06T10:00:00Z' });
    const { body } = await ann.api.post('/calendar/scheduling/free_busy', {
      from: '2027-04-06',
      to: '2027-04-06',
      time_zone: 'UTC',
      attendees: [tagged],
    });
    expect(body.free_busy).toMatchObject([{ email: bob.email, status: 'ok', busy: [expect.anything()] }]);
    const made = await ann.api.post('/calendar/polls', {
      title: 'P',
      time_zone: 'UTC',
      options: [{ start: '2027-03-02T09:00:00Z' }, { start: '2027-03-03T09:00:00Z' }],
      participants: [tagged, bob.email],
    });
    expect(made.body.poll.participants.map(({ email, user_id }: any) => [email, user_id])).toEqual([
      [ann.email, ann.id],
      [bob.email, bob.id],
    ]);
    expect((await bob.api.get(`/calendar/polls/${made.body.poll.id}`)).status).toBe(200);
  });

  test('a CalDAV program reads the address that it has written; the member has the event', async () => {
    const client = await DavClient.of(app, ann);
    const uid = 'tagged-by-dav';
    const text = [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//Test//EN',
      'BEGIN:VEVENT',
      `UID:${uid}`,
      'DTSTAMP:20270301T000000Z',
      'DTSTART:20270302T090000Z',
      'SUMMARY:By a program',
      `ORGANIZER:mailto:${ann.email}`,
      'ATTENDEE;RSVP=TRUE:mailto:bob+cal@acme.example',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ].join('\r\n');
    const path = `${client.home('calendars')}${anns}/${uid}.ics`;
    expect((await client.send('PUT', path, text, { 'content-type': 'text/calendar' })).status).toBe(201);
    expect((await client.send('GET', path)).text.replaceAll('\r\n ', '')).toContain(
      'mailto:bob+cal@acme.example',
    );
    expect(await eventOf(bob, bobs, uid)).toMatchObject({
      title: 'By a program',
      my_response: 'needs_action',
    });
    expect(await mailsAbout(uid)).toEqual([]);
  });

  test.each([
    ['the address of the member', 'bob@acme.example'],
    ['an address with a tag', 'bob+cal@acme.example'],
  ])('an attendee outside of the workspace delegates to a member: %s', async (_name, delegate) => {
    const event = await meeting([ADA]);
    const text = [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'METHOD:REPLY',
      'BEGIN:VEVENT',
      `UID:${event.uid}`,
      'DTSTAMP:20270101T000000Z',
      'DTSTART:20270302T090000Z',
      `ORGANIZER:mailto:${ann.email}`,
      `ATTENDEE;PARTSTAT=DELEGATED;DELEGATED-TO="mailto:${delegate}":mailto:${ADA}`,
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ].join('\r\n');
    const message = await app.get<IncomingMessages>(IncomingMessages).receive({
      tenantId: ann.tenantId as string,
      userId: ann.id,
      calendarId: null,
      bytes: Buffer.from(text),
      from: ADA,
      isProven: true,
      method: 'REPLY',
      isAuthentic: true,
      dedupeKey: uuidv7(),
    });
    expect(message?.result).toBe('reply_recorded');
    const seen = await eventOf(ann, anns, event.uid);
    expect(seen.attendees).toMatchObject([
      { email: ADA, response: 'delegated', delegated_to: delegate },
      { email: delegate, user_id: bob.id, response: 'needs_action', delegated_from: ADA },
    ]);
    const own = await eventOf(bob, bobs, event.uid);
    expect(own).toMatchObject({ title: 'M', my_response: 'needs_action', permissions: { rsvp: true } });
    expect((await bob.api.put(`${eventPath(bobs, own)}/rsvp`, { response: 'accepted' })).status).toBe(200);
    await app.get(OutboxWorker).drain();
    const { notifications } = (await bob.api.get('/notifications?limit=50')).body;
    expect(notifications).toContainEqual(
      expect.objectContaining({
        type: 'calendar.invited',
        subject: expect.objectContaining({ id: event.id }),
      }),
    );
  });
});
