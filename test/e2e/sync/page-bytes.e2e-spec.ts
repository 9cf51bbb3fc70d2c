import { jest } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { definitionOf, ok, published } from '../../support/domains/forms.ts';

/** Long content that PostgreSQL compresses: its stored size is a hundredth of it. */
const LONG = 1_500_000;

describe('pages of long rows are bounded in bytes', () => {
  let app: TestApp;
  let ann: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
  });
  afterAll(() => app?.stop());

  /** Reads all pages of a list. @returns the numbers of rows, and the rows */
  const pagesOf = async (path: string, name: string): Promise<{ counts: number[]; rows: any[] }> => {
    const counts: number[] = [];
    const rows: any[] = [];
    for (let cursor = ''; ;) {
      const { status, body } = await ann.api.get(`${path}${cursor}`);
      expect([status, body.error]).toEqual([200, undefined]);
      counts.push(body[name].length);
      rows.push(...body[name]);
      if (body.next === null) return { counts, rows };
      cursor = `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(body.next)}`;
    }
  };
  /** The longest result of a statement during some work, characters of JSON. */
  const longestResult = async (work: () => Promise<unknown>): Promise<number> => {
    const query = jest.spyOn(Database.prototype, 'query');
    await work();
    const results = await Promise.all(query.mock.results.map(({ value }) => value));
    query.mockRestore();
    return Math.max(...results.map((rows) => JSON.stringify(rows).length));
  };

  test('responses of a form', async () => {
    const form = await published(ann, definitionOf([{ id: 't', type: 'long_text', title: 'T' }]));
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1)
      ids.unshift(
        ok(await ann.api.post(`/forms/${form.id}/submit`, { answers: { t: `${n}` } }), 201).response.id,
      );
    await app.sql(
      `UPDATE form_responses SET answers = jsonb_build_object('t', repeat('a', $2)) WHERE form_id = $1`,
      [form.id, LONG],
    );
    let read: Awaited<ReturnType<typeof pagesOf>> | undefined;
    const longest = await longestResult(async () => {
      read = await pagesOf(`/forms/${form.id}/responses`, 'responses');
    });
    expect(read!.counts).toEqual([2, 2, 1]);
    expect(read!.rows.map(({ id }) => id)).toEqual(ids);
    expect(longest).toBeLessThan(3 * LONG);
    // A row above the limit is a page of its own.
    await app.sql(
      `UPDATE form_responses SET answers = jsonb_build_object('t', repeat('a', $2)) WHERE form_id = $1`,
      [form.id, 4 * LONG],
    );
    expect((await pagesOf(`/forms/${form.id}/responses`, 'responses')).counts).toEqual([1, 1, 1, 1, 1]);
  });

  test('instances of a calendar', async () => {
    const calendar = (await ann.api.post('/calendar', { name: 'Long', time_zone: 'Europe/Berlin' })).body
      .calendar.id;
    const create = async (fields: object) =>
      ok(await ann.api.post(`/calendar/${calendar}/events`, fields), 201).event;
    const series = await create({
      title: 'Series',
      start: { date_time: '2026-05-04T09:00:00', time_zone: 'Europe/Berlin' },
      duration: 'PT1H',
      rrule: 'FREQ=DAILY;COUNT=4',
    });
    await create({ title: 'Days', start: '2026-05-05', description: 'short' });
    const changed = await ann.api.put(`/calendar/${calendar}/events/${series.id}`, {
      scope: 'this',
      recurrence_id: '2026-05-06T09:00:00',
      title: 'Other',
      start: { date_time: '2026-05-06T10:00:00', time_zone: 'Europe/Berlin' },
    });
    expect(changed.status).toBe(200);
    const path = `/calendar/${calendar}/instances?from=2026-05-01&to=2026-06-01`;
    const short = await pagesOf(path, 'instances');
    expect(short.counts).toEqual([5]);
    await app.sql(`UPDATE calendar_events SET description = repeat('a', $2) WHERE id = $1`, [
      series.id,
      LONG,
    ]);
    let read: Awaited<ReturnType<typeof pagesOf>> | undefined;
    const longest = await longestResult(async () => {
      read = await pagesOf(path, 'instances');
    });
    expect(longest).toBeLessThan(3 * LONG);
    expect(read!.counts.length).toBeGreaterThan(1);
    const withDescription = (instance: any) =>
      instance.series_id === null ? instance : { ...instance, description: 'a'.repeat(LONG) };
    expect(read!.rows.map(({ id }) => id)).toEqual(short.rows.map(({ id }) => id));
    const isSame = read!.rows.map(
      (row, n) => JSON.stringify(row) === JSON.stringify(withDescription(short.rows[n])),
    );
    expect(isSame).toEqual(short.rows.map(() => true));
    const found = await pagesOf(`${path}&q=other`, 'instances');
    expect(found.rows.map(({ title }) => title)).toEqual(['Other']);
  });

  test('events of a calendar: list, synchronisation, export', async () => {
    const made = await ann.api.post('/calendar', { name: 'Events', time_zone: 'UTC' });
    const calendar = made.body.calendar.id;
    const ids: string[] = [];
    for (let n = 1; n <= 4; n += 1) {
      const fields = { title: `${n}`, start: `2026-05-0${n}` };
      ids.push(ok(await ann.api.post(`/calendar/${calendar}/events`, fields), 201).event.id);
    }
    await app.sql(`UPDATE calendar_events SET description = repeat('a', $2) WHERE id = ANY ($1)`, [
      ids,
      LONG,
    ]);
    let read: Awaited<ReturnType<typeof pagesOf>> | undefined;
    let text = '';
    const synced: string[][] = [];
    const longest = await longestResult(async () => {
      read = await pagesOf(`/calendar/${calendar}/events`, 'events');
      for (let token: string | null = null, more = true; more;) {
        const { body } = await ann.api.post(`/calendar/${calendar}/sync`, { sync_token: token });
        synced.push(body.changes.map(({ event }: any) => event.id));
        token = body.sync_token;
        more = body.more;
      }
      const headers = { authorization: `Bearer ${ann.token}` };
      text = await (await fetch(`${app.base}/apis/v1/calendar/${calendar}/export.ics`, { headers })).text();
    });
    expect([read!.counts, read!.rows.map(({ id }) => id)]).toEqual([[2, 2], ids]);
    expect(synced).toEqual([ids.slice(0, 2), ids.slice(2)]);
    expect(text.match(/^SUMMARY:\d/gm)).toHaveLength(4);
    expect(longest).toBeLessThan(3 * LONG);
  });
});
