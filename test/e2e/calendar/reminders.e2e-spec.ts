import { Outbox } from '../../../src/platform/events/outbox.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { type TestUser, TestApp } from '../../support/app.ts';

/** In seconds, as HOUR. */
const MINUTE = 60;
const HOUR = 3_600;

describe('reminders of events', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let clock: { tick(now?: Date): Promise<number> };
  let calendar: string;
  let now: number;
  const reported = new Map<string, any>();

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
    const { ReminderClock } = await import('../../../src/modules/calendar/reminders/reminder-clock.js');
    clock = app.get(ReminderClock);
    app
      .get<Outbox>(Outbox)
      .subscribe('calendar.reminder.due', 'test', async ({ id, payload }) => void reported.set(id, payload));
    const made = await ann.api.post('/calendar', {
      name: 'Reminded',
      default_reminders: [{ method: 'popup', minutes: 10 }],
    });
    calendar = made.body.calendar.id;
    now = Math.floor(Date.now() / 1000);
    await tickAt(now + 1);
  });
  afterAll(() => app?.stop());

  const tickAt = (instant: number) => clock.tick(new Date(instant * 1000));
  const utc = (instant: number) => ({
    date_time: new Date(instant * 1000).toISOString().slice(0, 19),
    time_zone: 'UTC',
  });
  const create = async (fields: object) =>
    (await ann.api.post(`/calendar/${calendar}/events`, { ...fields })).body.event;
  const due = async (eventId: string) => {
    await app.get<OutboxWorker>(OutboxWorker).drain();
    // The outbox keeps no order between its events.
    return [...reported.values()]
      .filter(({ event_id }) => event_id === eventId)
      .toSorted((a, b) => a.start.localeCompare(b.start));
  };

  test('each instance of a series is reported once, at its time, also by several processes', async () => {
    const start = now + HOUR;
    const { id } = await create({
      title: 'Stand-up',
      start: utc(start),
      end: utc(start + 15 * MINUTE),
      recurrence: { rules: ['FREQ=DAILY;COUNT=3'] },
    });
    await tickAt(start - 10 * MINUTE - 1);
    expect(await due(id)).toEqual([]);
    const counts = await Promise.all(Array.from({ length: 4 }, () => tickAt(start - 10 * MINUTE)));
    expect(counts.reduce((a, b) => a + b)).toBe(1);
    expect(await due(id)).toMatchObject([
      { calendar_id: calendar, user_id: ann.id, minutes: 10, methods: ['popup'] },
    ]);
    await tickAt(start + 24 * HOUR);
    await tickAt(start + 48 * HOUR);
    await tickAt(start + 100 * HOUR);
    expect((await due(id)).map((each: any) => Date.parse(each.start) / 1000)).toEqual([
      start,
      start + 24 * HOUR,
      start + 48 * HOUR,
    ]);
  });

  test('an event that cannot be read does not delay the reminders of others, and is retried', async () => {
    const start = now + 150 * HOUR;
    const times = { start: utc(start), end: utc(start + HOUR) };
    const [broken, whole] = [await create({ title: 'Broken', ...times }), await create({ ...times })];
    const setZone = (zone: string) =>
      app.sql('UPDATE calendar_events SET time_zone = $2 WHERE id = $1', [broken.id, zone]);
    await setZone('Nowhere/Gone');
    await tickAt(start - 10 * MINUTE);
    expect(await due(whole.id)).toHaveLength(1);
    expect(await due(broken.id)).toEqual([]);
    await setZone('UTC');
    await tickAt(start + 50 * MINUTE);
    expect(await due(broken.id)).toHaveLength(1);
  });

  test('own reminders replace those of the calendar, and a moved event is reported at its new time', async () => {
    const start = now + 200 * HOUR;
    const { id } = await create({
      title: 'Review',
      start: utc(start),
      end: utc(start + HOUR),
      reminders: {
        overrides: [
          { method: 'email', minutes: 60 },
          { method: 'popup', minutes: 60 },
          { method: 'popup', minutes: 0 },
        ],
      },
    });
    const later = start + 5 * HOUR;
    const moved = await ann.api.put(`/calendar/${calendar}/events/${id}`, {
      start: utc(later),
      end: utc(later + HOUR),
    });
    expect(moved.status).toBe(200);
    await tickAt(start + HOUR);
    expect(await due(id)).toEqual([]);
    await tickAt(later);
    const found = await due(id);
    expect(found.map(({ minutes }: any) => minutes)).toEqual([60, 0]);
    expect(found[0].methods.toSorted()).toEqual(['email', 'popup']);
  });

  test('declined, cancelled, deleted and past instances have no reminder; attendees have their own', async () => {
    const start = now + 300 * HOUR;
    const fields = { start: utc(start), end: utc(start + HOUR), attendees: [bob.id], send_updates: 'none' };
    const [kept, declined, deleted] = [
      await create({ ...fields, title: 'Kept' }),
      await create({ ...fields, title: 'Declined' }),
      await create({ ...fields, title: 'Deleted' }),
    ];
    const own = (await bob.api.get('/calendar')).body.calendars[0].id;
    const rsvp = await bob.api.put(`/calendar/${own}/events/${declined.id}/rsvp`, { response: 'declined' });
    expect(rsvp.status).toBe(200);
    expect((await ann.api.delete(`/calendar/${calendar}/events/${deleted.id}`)).status).toBe(200);
    await tickAt(start - 10 * MINUTE);
    const users = async (id: string) => (await due(id)).map(({ user_id }: any) => user_id).toSorted();
    expect(await users(kept.id)).toEqual([ann.id, bob.id].toSorted());
    expect(await users(declined.id)).toEqual([ann.id]);
    expect(await users(deleted.id)).toEqual([]);
    const past = await create({ title: 'Past', start: utc(start - 50 * HOUR), end: utc(start - 49 * HOUR) });
    await tickAt(start);
    expect(await due(past.id)).toEqual([]);
  });

  test.each([
    ['without length', 0],
    ['of a few seconds', 5],
  ])('an event %s is reminded of at its start by the next check', async (_name, length) => {
    const start = now + 250 * HOUR;
    const reminders = { use_default: false, overrides: [{ method: 'popup', minutes: 0 }] };
    const event = { title: 'Call', start: utc(start), end: utc(start + length), reminders };
    const { id } = await create(event);
    await tickAt(start - 1);
    expect(await due(id)).toEqual([]);
    await tickAt(start + 9);
    expect((await due(id)).map(({ minutes }: any) => minutes)).toEqual([0]);
    const missed = await create({ ...event, title: 'Missed' });
    await tickAt(start + HOUR);
    expect(await due(missed.id)).toEqual([]);
  });

  test('new reminders of the calendar apply to its events', async () => {
    const start = now + 400 * HOUR;
    const { id } = await create({ title: 'Later', start: utc(start), end: utc(start + HOUR) });
    await tickAt(now + 301 * HOUR);
    await ann.api.put(`/calendar/${calendar}`, { default_reminders: [{ method: 'popup', minutes: 120 }] });
    await tickAt(start - 120 * MINUTE);
    await tickAt(start);
    expect((await due(id)).map(({ minutes }: any) => minutes)).toEqual([120]);
  });

  test('the reminders of the receiving calendar apply to events that move there when theirs is deleted', async () => {
    const silent = await ann.api.post('/calendar', { name: 'Silent', default_reminders: [] });
    const { id } = silent.body.calendar;
    const receiver = (await ann.api.post('/calendar', { name: 'Receiver' })).body.calendar.id;
    const made = await ann.api.post(`/calendar/${id}/events`, { title: 'Moved', start: utc(now + 4 * HOUR) });
    const { event } = made.body;
    await tickAt(now + 3 * HOUR);
    await ann.api.delete(`/calendar/${id}?move_events_to=${receiver}`);
    await tickAt(now + 4 * HOUR - MINUTE);
    expect(await due(event.id)).toHaveLength(1);
  });
});
