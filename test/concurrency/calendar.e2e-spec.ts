import type pg from 'pg';
import { CalendarHousekeeping } from '../../src/modules/calendar/calendar-housekeeping.js';
import { Db } from '../../src/platform/database/db.js';
import { type TestUser, TestApp } from '../support/app.ts';
import {
  at,
  defaultCalendar,
  eventPath,
  icsFile,
  importFile,
  newCalendar,
  newEvent,
  vevent,
} from '../support/domains/calendars.ts';
import { countDeadlocks } from '../support/database/deadlocks.ts';
import { afterChange, inTransaction } from '../support/database/locks.ts';

describe('calendars under concurrency', () => {
  let app: TestApp;
  let users: TestUser[];
  let ann: TestUser;
  let calendar: string;

  beforeAll(async () => {
    app = await TestApp.start();
    users = await app.tenant('acme', 'ann', ...Array.from({ length: 50 }, (_, n) => `user${n}`));
    ann = users[0] as TestUser;
    calendar = await newCalendar(ann, 'Work');
  });
  afterAll(() => app?.stop());

  test('50 attendees who respond at once lose no response', async () => {
    const attendees = users.slice(1);
    const event = await newEvent(ann, calendar, {
      title: 'All hands',
      start: at('2026-03-02T09:00:00'),
      attendees: attendees.map(({ id }) => id),
    });
    const homes = await Promise.all(attendees.map(defaultCalendar));
    const replies = await Promise.all(
      attendees.map(({ api }, n) =>
        api.put(`${eventPath(homes[n] as string, event)}/rsvp`, {
          response: n % 2 ? 'accepted' : 'declined',
        }),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(attendees.map(() => 200));
    const seen = (await ann.api.get(eventPath(calendar, event))).body.event;
    expect(seen.revision).toBe(51);
    const byId = new Map<string, string>(
      seen.attendees.map(({ user_id, response }: any) => [user_id, response]),
    );
    expect(attendees.map(({ id }) => byId.get(id))).toEqual(
      attendees.map((_, n) => (n % 2 ? 'accepted' : 'declined')),
    );
  });

  test('of devices that change one revision concurrently, one succeeds; the others get the current event', async () => {
    const event = await newEvent(ann, calendar, { title: 'Zero', start: '2026-03-02' });
    const titles = Array.from({ length: 20 }, (_, n) => `Title ${n}`);
    const replies = await Promise.all(
      titles.map((title) => ann.api.put(eventPath(calendar, event), { title, base_revision: 1 })),
    );
    const won = replies.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const { status, body } of replies.filter((reply) => reply !== won[0]))
      expect([status, body.error, body.event.title]).toEqual([409, 'conflict', won[0]!.body.event.title]);
  });

  test('a cancelled poll locks its tentative events in all calendars before the calendars', async () => {
    const [from, to] = [await newCalendar(ann, 'From'), await newCalendar(ann, 'To')];
    const options = [{ date: '2026-03-02' }, { date: '2026-03-03' }];
    const poll = { title: 'Held', time_zone: 'UTC', hold: true, calendar_id: from, options };
    const { body } = await ann.api.post('/calendar/polls', poll);
    const [, last] = body.poll.options.map(({ hold_event_id: id }: any) => id).toSorted();
    const moved = await ann.api.put(`/calendar/${from}/events/${last}`, { calendar_id: to });
    expect(moved.status).toBe(200);
    const cancelled = await afterChange(
      await app.databaseOf(ann.tenantId as string),
      (other) => other.query('SELECT FROM calendar_events WHERE id = $1 FOR UPDATE', [last]),
      () => ann.api.post(`/calendar/polls/${body.poll.id}/cancel`),
      {
        // A lock of the calendar of the other event would fail this one.
        meanwhile: (other) =>
          other.query('SELECT FROM calendars WHERE id = $1 FOR NO KEY UPDATE NOWAIT', [from]),
      },
    );
    expect(cancelled.body.poll.status).toBe('cancelled');
  });

  test('a synchronising client loses nothing of parallel writes', async () => {
    const own = await newCalendar(ann, 'Busy');
    const known = new Map<string, string>();
    let token: string | null = null;
    const pull = async (): Promise<void> => {
      for (let more = true; more;) {
        const { body } = await ann.api.post(`/calendar/${own}/sync`, { sync_token: token, limit: 7 });
        for (const { op, event, event_id } of body.changes)
          if (op === 'upsert') known.set(event.id, event.title);
          else known.delete(event_id);
        ({ more, sync_token: token } = body);
      }
    };
    const writer = async (name: string): Promise<void> => {
      for (let n = 0; n < 6; n += 1) {
        const event = await newEvent(ann, own, { title: `${name} ${n}`, start: '2026-03-02' });
        if (n % 3 === 1) await ann.api.put(eventPath(own, event), { title: `${name} ${n}!` });
        if (n % 3 === 2) await ann.api.delete(eventPath(own, event));
      }
    };
    const writers = Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(writer));
    for (let n = 0; n < 12; n += 1) await pull();
    await writers;
    await pull();
    const stored = (await ann.api.get(`/calendar/${own}/events?limit=200`)).body.events;
    expect(known).toEqual(new Map(stored.map(({ id, title }: any) => [id, title])));
    expect(stored).toHaveLength(24);
  });

  test('devices that push meetings with each other do not deadlock, also while removals are forgotten', async () => {
    const [one, two, three] = users.slice(1, 4) as [TestUser, TestUser, TestUser];
    const homes = await Promise.all([one, two, three].map(defaultCalendar));
    const deadlocks = countDeadlocks(app.get(Db));
    const everyone = [one, two, three].map(({ id }) => id);
    const push = async (user: TestUser, home: string, round: number) => {
      const made = await user.api.post(`/calendar/${home}/sync`, {
        changes: [0, 1].map((n) => ({
          op: 'upsert',
          client_id: `${user.id} ${round} ${n}`,
          event: { title: 'Meeting', start: '2026-03-02', attendees: everyone },
        })),
      });
      expect(made.body.results.map(({ status }: any) => status)).toEqual([201, 201]);
      const deleted = made.body.results.map(({ event }: any) => ({ op: 'delete', event_id: event.id }));
      const gone = await user.api.post(`/calendar/${home}/sync`, { changes: deleted });
      expect(gone.body.results.map(({ status }: any) => status)).toEqual([200, 200]);
    };
    const work = [one, two, three].flatMap((user, n) =>
      Array.from({ length: 4 }, (_, round) => push(user, homes[n] as string, round)),
    );
    const housekeeping = app.get<CalendarHousekeeping>(CalendarHousekeeping);
    const future = new Date(Date.now() + 60_000);
    await Promise.all([
      ...work,
      ...Array.from({ length: 5 }, () => housekeeping.forget(future)),
      ...Array.from({ length: 5 }, () => housekeeping.purge(future)),
    ]);
    expect(deadlocks()).toBe(0);
  });

  test('a calendar that is being written does not delay the deletion of removals of others', async () => {
    const homes = await Promise.all(users.slice(1, 3).map(defaultCalendar));
    for (const [n, home] of homes.entries()) {
      const user = users[n + 1] as TestUser;
      const { id } = await newEvent(user, home, { title: 'Gone', start: '2026-03-02' });
      expect((await user.api.delete(`/calendar/${home}/events/${id}`)).status).toBe(200);
    }
    const left = async () =>
      (
        await app.sql(
          'SELECT DISTINCT calendar_id AS id FROM entry_tombstones WHERE calendar_id = ANY ($1)',
          [homes],
        )
      ).map(({ id }) => id);
    expect(await left()).toHaveLength(2);
    const forget = () =>
      app.get<CalendarHousekeeping>(CalendarHousekeeping).forget(new Date(Date.now() + 60_000));
    await inTransaction(await app.databaseOf(ann.tenantId!), async (writer) => {
      await writer.query('SELECT FROM calendars WHERE id = $1 FOR NO KEY UPDATE', [homes[0]]);
      await forget();
      expect(await left()).toEqual([homes[0]]);
    });
    await forget();
    expect(await left()).toEqual([]);
  });

  const deleting = (id: string) => (other: pg.Client) =>
    other.query('DELETE FROM calendars WHERE id = $1', [id]);

  const outcomeAfter = async (change: (other: pg.Client) => Promise<unknown>, send: () => Promise<any>) => {
    const { status, body } = await afterChange(await app.databaseOf(ann.tenantId!), change, send);
    return [status, body.error];
  };

  test('a feed and an event of a calendar that is being deleted are 404', async () => {
    for (const [path, body] of [
      ['feeds', {}],
      ['events', { title: 'Late', start: '2026-03-02' }],
    ] as const) {
      const deleted = await newCalendar(ann, 'Short');
      const outcome = await outcomeAfter(deleting(deleted), () =>
        ann.api.post(`/calendar/${deleted}/${path}`, body),
      );
      expect([path, ...outcome]).toEqual([path, 404, 'not_found']);
    }
  });

  test('the deletion of a calendar sees changes that it waited for', async () => {
    const owner = users[7] as TestUser;
    const former = await defaultCalendar(owner);
    const next = await newCalendar(owner, 'Next');
    const makeDefault = async (other: pg.Client) => {
      await other.query('UPDATE calendars SET is_default = false WHERE id = $1', [former]);
      await other.query('UPDATE calendars SET is_default = true, revision = 2 WHERE id = $1', [next]);
    };
    const remove = (id: string, revision: number) => () =>
      owner.api.delete(`/calendar/${id}`, undefined, {
        headers: { 'if-match': `"calendar:${id}:r${revision}"` },
      });
    expect(await outcomeAfter(makeDefault, remove(next, 2))).toEqual([409, 'default_calendar']);
    const raise = (other: pg.Client) =>
      other.query('UPDATE calendars SET revision = revision + 1 WHERE id = $1', [former]);
    expect(await outcomeAfter(raise, remove(former, 1))).toEqual([409, 'conflict']);
  });

  test('events stay when the calendar that they would move to is deleted first', async () => {
    const owner = users[8] as TestUser;
    const source = await newCalendar(owner, 'Source');
    const target = await newCalendar(owner, 'Target');
    const event = await newEvent(owner, source, { title: 'Kept', start: '2026-03-02' });
    const outcome = await outcomeAfter(deleting(target), () =>
      owner.api.delete(`/calendar/${source}?move_events_to=${target}`),
    );
    expect(outcome).toEqual([422, 'validation_failed']);
    expect((await owner.api.get(eventPath(source, event))).body.event.title).toBe('Kept');
  });

  test('creations, batches, pushes and imports write nothing when they waited for the end of the share', async () => {
    const [owner, writer] = users.slice(9, 11) as [TestUser, TestUser];
    const id = await newCalendar(owner, 'Ending');
    const event = { title: 'Late', start: '2026-03-02' };
    const file = icsFile(...vevent('UID:late', 'DTSTART:20260302T080000Z', 'SUMMARY:Late'));
    const locked = `WITH locked AS (SELECT id FROM calendars WHERE id = $1 FOR UPDATE)`;
    const end = (other: pg.Client) =>
      other.query(`${locked} DELETE FROM calendar_shares WHERE calendar_id IN (SELECT id FROM locked)`, [id]);
    const create = () => writer.api.post(`/calendar/${id}/events`, event);
    for (const send of [
      create,
      () => writer.api.post(`/calendar/${id}/events`, { ...event, attendees: [owner.email, ann.email] }),
      () => writer.api.post(`/calendar/${id}/events/batch`, { events: [event] }),
      () =>
        writer.api.post(`/calendar/${id}/sync`, { changes: [{ op: 'upsert', client_id: 'late', event }] }),
      () => importFile(writer, id, file),
    ]) {
      await owner.api.put(`/calendar/${id}`, { shares: [{ user_id: writer.id, role: 'writer' }] });
      expect(await outcomeAfter(end, send)).toEqual([404, 'not_found']);
    }
    await owner.api.put(`/calendar/${id}`, { shares: [{ user_id: writer.id, role: 'writer' }] });
    const lower = (other: pg.Client) =>
      other.query(
        `${locked} UPDATE calendar_shares SET role = 'reader' WHERE calendar_id IN (SELECT id FROM locked)`,
        [id],
      );
    expect(await outcomeAfter(lower, create)).toEqual([403, 'forbidden']);
    expect((await owner.api.get(`/calendar/${id}/events`)).body.events).toEqual([]);
  });

  test('meetings that share attendees do not block each other; the same uid is created once', async () => {
    const others = users.slice(1, 6).map(({ id }) => id);
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        ann.api.post(`/calendar/${calendar}/events`, {
          title: `m${n}`,
          uid: n < 6 ? 'same-uid' : `uid-${n}`,
          start: '2026-03-02',
          attendees: n % 2 ? others : others.toReversed(),
        }),
      ),
    );
    expect(made.map(({ status }) => status).toSorted()).toEqual([
      ...Array(7).fill(201),
      ...Array(5).fill(409),
    ]);
    const events = made.filter(({ status }) => status === 201).map(({ body }) => body.event);
    const changed = await Promise.all(
      events.flatMap((event) => [
        ann.api.put(eventPath(calendar, event), { title: 'x' }),
        ann.api.put(eventPath(calendar, event), { start: '2026-03-05' }),
      ]),
    );
    expect(new Set(changed.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
