import { CalendarHousekeeping } from '../../../src/modules/calendar/calendar-housekeeping.js';
import { EventIndexer } from '../../../src/modules/calendar/search/event-search.controller.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { at, defaultCalendar, eventPath, newCalendar, newEvent } from '../../support/domains/calendars.ts';

const UNKNOWN = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('batches, synchronisation, search', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
  });
  afterAll(() => app?.stop());

  describe('batch', () => {
    test('each operation has its own result; errors do not affect the others', async () => {
      const calendar = await newCalendar(ann, 'Batch');
      const event = await newEvent(ann, calendar, { title: 'Old', start: '2026-03-02' });
      const reply = await ann.api.post(`/calendar/${calendar}/events/batch`, {
        operations: [
          { op: 'create', client_id: 'a', event: { title: 'New', start: '2026-03-03', uid: 'x' } },
          { op: 'create', client_id: 'b', event: { title: 'Same', start: '2026-03-03', uid: 'x' } },
          { op: 'create', client_id: 'c', event: { title: 'Bad' } },
          { op: 'update', event_id: event.id, base_revision: 1, event: { title: 'Changed' } },
          { op: 'update', event_id: event.id, base_revision: 1, event: { title: 'Stale' } },
          { op: 'update', event_id: UNKNOWN, event: { title: 'None' } },
          { op: 'delete', event_id: 'nonsense' },
          { op: 'delete', event_id: event.id },
        ],
      });
      expect(reply.status).toBe(200);
      expect(reply.body).toMatchObject({ applied: 3, failed: 5 });
      expect(reply.body.results.map(({ status, error }: any) => [status, error?.error])).toEqual([
        [201, undefined],
        [409, 'duplicate_uid'],
        [422, 'validation_failed'],
        [200, undefined],
        [409, 'conflict'],
        [404, 'not_found'],
        [422, 'invalid_id'],
        [200, undefined],
      ]);
      expect(reply.body.results.map(({ client_id }: any) => client_id).slice(0, 3)).toEqual(['a', 'b', 'c']);
      const { events } = (await ann.api.get(`/calendar/${calendar}/events`)).body;
      expect(events.map(({ title }: any) => title)).toEqual(['New']);
    });

    test('an atomic batch applies all or none', async () => {
      const calendar = await newCalendar(ann, 'Atomic');
      const post = (events: object[], atomic = true) =>
        ann.api.post(`/calendar/${calendar}/events/batch`, { events, atomic });
      const failed = await post([{ start: '2026-03-02' }, { start: 'never' }]);
      expect([failed.status, failed.body.error]).toEqual([422, 'batch_failed']);
      expect(failed.body.results.map(({ status }: any) => status)).toEqual([424, 422]);
      expect((await ann.api.get(`/calendar/${calendar}/events`)).body.events).toEqual([]);
      const many = Array.from({ length: 500 }, (_, n) => ({ title: `e${n}`, start: '2026-03-02' }));
      expect((await post(many)).body).toMatchObject({ applied: 500, failed: 0 });
      expect((await post([...many, { start: '2026-03-02' }])).body.error).toBe('validation_failed');
      const all = (await ann.api.post(`/calendar/${calendar}/sync`, { limit: 500 })).body;
      expect([all.changes.length, all.more]).toEqual([500, false]);
      for (const body of [{}, { operations: [] }, { operations: [{ op: 'explode' }] }, { events: 'x' }])
        expect((await ann.api.post(`/calendar/${calendar}/events/batch`, body)).status).toBe(422);
    });
  });

  describe('sync', () => {
    test('pulls everything in pages, then only changes and removals', async () => {
      const calendar = await newCalendar(ann, 'Pull');
      const sync = async (body: object = {}, person = ann) =>
        (await person.api.post(`/calendar/${calendar}/sync`, body)).body;
      for (const n of [1, 2, 3]) await newEvent(ann, calendar, { title: `e${n}`, start: '2026-03-02' });
      const first = await sync({ limit: 2 });
      expect([first.changes.length, first.more]).toEqual([2, true]);
      const second = await sync({ limit: 2, sync_token: first.sync_token });
      expect([second.changes.map(({ event }: any) => event.title), second.more]).toEqual([['e3'], false]);
      expect(await sync({ sync_token: second.sync_token })).toMatchObject({ changes: [], more: false });
      const [{ event }] = first.changes;
      await ann.api.put(eventPath(calendar, event), { rrule: 'FREQ=DAILY;COUNT=3' });
      await ann.api.put(`${eventPath(calendar, event)}_20260303`, { title: 'other' });
      await ann.api.delete(eventPath(calendar, first.changes[1].event));
      const third = await sync({ sync_token: second.sync_token });
      expect(third.changes).toMatchObject([
        {
          op: 'upsert',
          event: { id: event.id, overrides_count: 1 },
          overrides: [{ title: 'other', type: 'exception' }],
        },
        { op: 'delete', event_id: first.changes[1].event.id },
      ]);
      const listed = (await ann.api.get(`/calendar/${calendar}/events`)).body.sync_token;
      expect(await sync({ sync_token: listed })).toMatchObject({ changes: [] });
      // Tokens are of one user, one calendar and one level of detail.
      expect((await bob.api.post(`/calendar/${calendar}/sync`, {})).status).toBe(404);
      await ann.api.put(`/calendar/${calendar}`, { shares: [{ user_id: bob.id, role: 'reader' }] });
      const bobs = await sync({}, bob);
      expect(bobs.changes.map(({ event: { title } }: any) => title).toSorted()).toEqual(['e1', 'e3']);
      expect((await sync({ sync_token: third.sync_token }, bob)).error).toBe('cursor_expired');
      const headOf = async () => (await bob.api.get('/sync/state')).body.objects.calendars[calendar];
      const head = await headOf();
      await ann.api.put(`/calendar/${calendar}`, { shares: [{ user_id: bob.id, role: 'free_busy' }] });
      // Programs that follow the heads read the calendar again.
      expect(await headOf()).toBeGreaterThan(head);
      const expired = await sync({ sync_token: bobs.sync_token }, bob);
      expect(expired).toMatchObject({ error: 'cursor_expired', reset_required: true });
      const busy = await bob.api.post(`/calendar/${calendar}/sync`, {});
      expect(busy.text).not.toMatch(/"title":"[^"]/);
    });

    test('removals that were forgotten do not end a first synchronisation in pages; later ones are delivered', async () => {
      const calendar = await newCalendar(ann, 'Walked');
      const make = (title: string) => newEvent(ann, calendar, { title, start: '2026-03-02' });
      const events = [await make('a'), await make('b'), await make('c')];
      await ann.api.delete(eventPath(calendar, await make('gone')));
      await app.get<CalendarHousekeeping>(CalendarHousekeeping).forget(new Date(Date.now() + 60_000));
      const pull = async (sync_token: string | null) => {
        const { status, body } = await ann.api.post(`/calendar/${calendar}/sync`, { sync_token, limit: 1 });
        expect([status, body.error]).toEqual([200, undefined]);
        return body;
      };
      const first = await pull(null);
      await ann.api.delete(eventPath(calendar, events[0]));
      await make('d');
      const seen: string[][] = [];
      for (let page = first; page.more;) {
        page = await pull(page.sync_token);
        seen.push(page.changes.map(({ op, event, event_id }: any) => `${op} ${event?.title ?? event_id}`));
      }
      expect([first.changes[0].event.title, ...seen.flat()]).toEqual([
        'a',
        'upsert b',
        'upsert c',
        `delete ${events[0].id}`,
        'upsert d',
      ]);
    });

    test('pushes changes with a result each; a repeated push changes nothing; conflicts as wanted', async () => {
      const calendar = await newCalendar(ann, 'Push');
      const sync = async (body: object) => (await ann.api.post(`/calendar/${calendar}/sync`, body)).body;
      const changes = [
        { op: 'upsert', client_id: 'local-1', event: { title: 'Offline', start: at('2026-03-02T09:00:00') } },
      ];
      const pushed = await sync({ changes });
      expect(pushed.results).toMatchObject([
        { index: 0, client_id: 'local-1', status: 201, error: null, current: null },
      ]);
      expect(pushed.changes).toMatchObject([{ op: 'upsert', event: { title: 'Offline', uid: 'local-1' } }]);
      const again = await sync({ changes, sync_token: pushed.sync_token });
      expect([again.results[0].status, again.results[0].event.id, again.changes]).toEqual([
        200,
        pushed.results[0].event.id,
        [],
      ]);
      const { id } = pushed.results[0].event;
      await ann.api.put(`/calendar/${calendar}/events/${id}`, { title: 'Server' });
      const stale = [{ op: 'upsert', event_id: id, base_revision: 1, event: { title: 'Client' } }];
      expect((await sync({ changes: stale, conflict: 'report' })).results).toMatchObject([
        { status: 409, error: { error: 'conflict' }, current: { title: 'Server' } },
      ]);
      expect((await sync({ changes: stale })).results).toMatchObject([
        { status: 200, error: null, event: { title: 'Server' }, current: { title: 'Server' } },
      ]);
      expect((await sync({ changes: stale, conflict: 'client' })).results).toMatchObject([
        { status: 200, event: { title: 'Client', revision: 3 }, current: null },
      ]);
      const removed = await sync({
        changes: [
          { op: 'delete', event_id: id },
          { op: 'delete', event_id: id },
        ],
      });
      expect(removed.results.map(({ status }: any) => status)).toEqual([200, 404]);
      for (const body of [
        { sync_token: 5 },
        { changes: [{ op: 'explode' }] },
        { limit: 0 },
        { conflict: 'war' },
      ])
        expect((await sync(body)).error).toBe('validation_failed');
      const bad = await sync({ sync_token: 'c1.x.y', changes });
      expect(bad.error).toBe('cursor_expired');
      expect((await ann.api.get(`/calendar/${calendar}/events`)).body.events).toEqual([]);
    });

    test('attendees get meetings, their changes and cancellations', async () => {
      const calendar = await newCalendar(ann, 'Meetings');
      const bobs = await defaultCalendar(bob);
      let token = (await bob.api.post(`/calendar/${bobs}/sync`, {})).body.sync_token;
      const next = async () => {
        const { body } = await bob.api.post(`/calendar/${bobs}/sync`, { sync_token: token });
        token = body.sync_token;
        return body.changes;
      };
      const event = await newEvent(ann, calendar, {
        title: 'Meet',
        start: '2026-03-02',
        attendees: [bob.id],
      });
      expect(await next()).toMatchObject([
        { op: 'upsert', event: { id: event.id, calendar_id: bobs, my_response: 'needs_action' } },
      ]);
      await bob.api.delete(eventPath(bobs, event));
      expect(await next()).toMatchObject([{ op: 'delete', event_id: event.id }]);
      const other = await newEvent(ann, calendar, {
        title: 'Other',
        start: '2026-03-02',
        attendees: [bob.id],
      });
      await ann.api.put(eventPath(calendar, other), { attendees: [] });
      expect(await next()).toMatchObject([{ op: 'delete', event_id: other.id }]);
    });
  });

  describe('search and suggestions', () => {
    const titles = async (person: TestUser, query: string) => {
      const { status, body } = await person.api.get(`/search/calendar?${query}`);
      expect(status).toBe(200);
      return body.events.map(({ title }: any) => title);
    };

    test('finds the texts of single instances, but not those that only some readers see', async () => {
      const calendar = await newCalendar(ann, 'Dates', [{ user_id: bob.id, role: 'reader' }]);
      const series = (title: string) =>
        newEvent(ann, calendar, {
          title,
          start: at('2026-03-02T09:00:00'),
          rrule: 'FREQ=WEEKLY;COUNT=4',
          attendees: [bob.id],
        });
      const change = (event: { id: string }, fields: object) =>
        ann.api.put(eventPath(calendar, event), { recurrence_id: at('2026-03-09T09:00:00'), ...fields });
      const event = await series('Quokka');
      await change(event, { title: 'Numbat', location: 'Wombat room', description: 'about a bilby & co' });
      for (const word of ['quokka', 'numbat', 'wombat', 'bilby'])
        expect([word, await titles(ann, `q=${word}`)]).toEqual([word, ['Quokka']]);
      await ann.api.delete(eventPath(calendar, event), { recurrence_id: at('2026-03-09T09:00:00') });
      expect(await titles(ann, 'q=numbat')).toEqual([]);

      await change(await series('Secret'), { title: 'Numbat', visibility: 'private' });
      await change(await series('Guests'), { title: 'Numbat', attendees: ['zoe@outside.example'] });
      await app.get(OutboxWorker).drain();
      expect(await titles(bob, 'q=numbat')).toEqual([]);
    });

    test('finds the texts of instances up to 65,536 characters of a series', async () => {
      const calendar = await newCalendar(ann, 'Long');
      const event = await newEvent(ann, calendar, {
        title: 'Long',
        start: at('2026-03-02T09:00:00'),
        rrule: 'FREQ=DAILY;COUNT=4',
      });
      for (const [day, word] of ['Kea', 'Kaka', 'Kiwi'].entries())
        await ann.api.put(eventPath(calendar, event), {
          recurrence_id: at(`2026-03-0${day + 3}T09:00:00`),
          description: `${word} ${'x '.repeat(20_000)}`,
        });
      await app.get(OutboxWorker).drain();
      const found = await Promise.all(['kea', 'kaka', 'kiwi'].map((word) => titles(ann, `q=${word}`)));
      expect(found).toEqual([['Long'], ['Long'], []]);
    });

    test('indexes again a row that the previous release made without the texts of instances', async () => {
      const calendar = await newCalendar(ann, 'Upgrade');
      const event = await newEvent(ann, calendar, {
        title: 'Upgraded',
        start: at('2026-03-02T09:00:00'),
        rrule: 'FREQ=WEEKLY;COUNT=4',
      });
      await ann.api.put(eventPath(calendar, event), {
        recurrence_id: at('2026-03-09T09:00:00'),
        title: 'Pangolin',
      });
      await app.get(OutboxWorker).drain();
      const indexed = await app.sql(
        `UPDATE event_search SET rules = 2, tsv = ts_delete(tsv, ARRAY(SELECT lexeme FROM unnest(tsv) WHERE lexeme LIKE '%pangolin%'))
          WHERE tenant_id = $1 AND event_id = $2 RETURNING 1`,
        [ann.tenantId, event.id],
      );
      expect(indexed).toHaveLength(1);
      expect(await titles(ann, 'q=upgraded')).toEqual(['Upgraded']);
      expect(await titles(ann, 'q=pangolin')).toEqual([]);
      await app.get(EventIndexer).repair();
      expect(await titles(ann, 'q=pangolin')).toEqual(['Upgraded']);
    });

    test('finds what the caller may read, at once for the author', async () => {
      const calendar = await newCalendar(ann, 'Search', [{ user_id: bob.id, role: 'reader' }]);
      await newEvent(ann, calendar, {
        title: 'Zebra crossing',
        description: 'stripes <b>',
        start: '2026-03-02',
        location: 'Street',
      });
      const hidden = await newEvent(ann, calendar, {
        title: 'Zebra surprise',
        start: '2026-03-03',
        visibility: 'private',
      });
      const found = (await ann.api.get('/search/calendar?q=zebra')).body;
      expect(found).toMatchObject({ total: 2, next: null, query: 'zebra' });
      const hit = found.events.find(({ title }: any) => title === 'Zebra crossing');
      expect(hit.highlights).toEqual({
        title: '<mark>Zebra</mark> crossing',
        description: 'Street stripes &lt;b&gt;',
      });
      await app.get(OutboxWorker).drain();
      expect((await titles(ann, 'q=zebra')).toSorted()).toEqual(['Zebra crossing', 'Zebra surprise']);
      expect(await titles(bob, 'q=zebra')).toEqual(['Zebra crossing']);
      expect(await titles(bob, 'q=stripes')).toEqual(['Zebra crossing']);
      expect(await titles(ann, `q=zebra&calendar_id=${await defaultCalendar(ann)}`)).toEqual([]);
      expect(await titles(ann, 'q=zebra&from=2026-05-01')).toEqual([]);
      expect(await titles(ann, `q=zebra&calendar_id=${calendar}&from=2026-03-01&to=2026-04-01`)).toHaveLength(
        2,
      );
      await ann.api.delete(eventPath(calendar, hidden));
      expect(await titles(ann, 'q=surprise')).toEqual([]);
      await ann.api.put(`/calendar/${calendar}`, { shares: [{ user_id: bob.id, role: 'free_busy' }] });
      expect(await titles(bob, 'q=zebra')).toEqual([]);
      const first = (await ann.api.get('/search/calendar?q=e&limit=1')).body;
      expect(first.events).toHaveLength(first.total > 0 ? 1 : 0);
      expect((await ann.api.get('/search/calendar?q=%20')).body.error).toBe('validation_failed');
    });

    test('suggests own titles with the values of the latest event', async () => {
      const calendar = await newCalendar(ann, 'Titles', [{ user_id: bob.id, role: 'writer' }]);
      await newEvent(ann, calendar, {
        title: 'Budget review',
        start: '2026-03-02T09:00:00',
        duration: 'PT30M',
      });
      await newEvent(ann, calendar, {
        title: 'budget Review',
        start: '2026-03-02T09:00:00',
        duration: 'PT45M',
        location: 'R1',
        attendees: ['x@outside.example'],
        categories: ['money'],
      });
      await newEvent(bob, calendar, { title: 'Budget of Bob', start: '2026-03-02' });
      const suggest = async (query: string) =>
        (await ann.api.get(`/calendar/title-suggestions${query}`)).body.suggestions;
      expect(await suggest('?q=BUD')).toEqual([
        {
          title: 'budget Review',
          count: 2,
          last_used_at: expect.any(String),
          duration_minutes: 45,
          location: 'R1',
          attendees: ['x@outside.example'],
          color: null,
          category: 'money',
        },
      ]);
      expect(await suggest(`?q=rev&calendar_id=${calendar}`)).toHaveLength(1);
      expect(await suggest('?q=%25')).toEqual([]);
      expect((await suggest('?limit=1')).length).toBe(1);
      expect((await ann.api.get('/calendar/title-suggestions?limit=x')).status).toBe(422);
    });

    test('suggests no title of an event that has become private', async () => {
      const { id } = (
        await ann.api.post('/calendar', { name: 'Shared', shares: [{ user_id: bob.id, role: 'writer' }] })
      ).body.calendar;
      const event = await newEvent(bob, id, { title: 'Placeholder', start: '2026-03-02' });
      const suggested = async (q: string) =>
        (await bob.api.get(`/calendar/title-suggestions?q=${q}`)).body.suggestions.map(
          ({ title }: any) => title,
        );
      expect(await suggested('placeholder')).toEqual(['Placeholder']);
      await ann.api.put(eventPath(id, event), { title: 'Surgery', visibility: 'private' });
      expect(await suggested('surgery')).toEqual([]);
    });
  });
});
