// The floor of the calendar bench: a bare HTTP server with the repositories' statements, without token and checks.
import { finishChange, newEntry, writeJson } from '../../../dist/modules/calendar/changes/event-write.js';
import { EventsRepository } from '../../../dist/modules/calendar/events.repository.js';
import { occurrencesIn, rangeOf } from '../../../dist/modules/calendar/model/event-series.js';
import { parseInstant } from '../../../dist/modules/calendar/model/event-times.js';
import { eventResponse, instanceResponse } from '../../../dist/modules/calendar/responses/event.presenter.js';
import { CalendarSyncRepository } from '../../../dist/modules/calendar/sync/calendar-sync.controller.js';
import { floorDatabase, floorPool, serveFloor } from '../support/floor-server.mjs';

const db = floorDatabase();
const events = new EventsRepository();
const feed = new CalendarSyncRepository(db);

async function month(ctx, id, query) {
  const [from, to] = [parseInstant(query.get('from')), parseInstant(query.get('to'))];
  const window = { ...rangeOf({ from, to }), limit: 10_001 };
  const { calendar, found } = await events.window(db, ctx, id, window);
  const viewer = { userId: ctx.userId, calendar, readerZone: calendar.time_zone };
  const instances = found
    .flatMap(({ record, entry }) =>
      occurrencesIn(record, { from, to, readerZone: calendar.time_zone }, 10_001).map((occurrence) => ({
        start: occurrence.start,
        json: () => instanceResponse(record, entry, viewer, occurrence),
      })),
    )
    .toSorted((a, b) => a.start - b.start)
    .slice(0, Number(query.get('limit')));
  return JSON.stringify({ instances: instances.map(({ json }) => json()), next: null });
}

async function create(ctx, id, { template }) {
  const calendar = await events.context(db, ctx, id);
  const now = new Date().toISOString();
  const record = { ...template, id: crypto.randomUUID(), uid: crypto.randomUUID(), origin_calendar_id: id };
  const entries = [newEntry(record, id, calendar.owner_id)];
  const change = {
    before: null,
    record,
    entries,
    removed: [],
    action: 'created',
    fields: [],
    key: '',
    messages: [],
  };
  const done = finishChange(change, ctx, now);
  await events.write(db, ctx.tenantId, writeJson([done], ctx, now));
  const viewer = { userId: ctx.userId, calendar, readerZone: calendar.time_zone };
  return JSON.stringify({ event: eventResponse(done.record, done.entries[0], viewer) });
}

async function update(ctx, id, eventId, { title }) {
  const client = await floorPool.connect();
  const tx = { query: async ({ name, text }, values) => (await client.query({ name, text, values })).rows };
  try {
    await client.query('BEGIN');
    const { calendar, record, entries } = await events.lock(tx, ctx, id, eventId);
    const now = new Date().toISOString();
    const next = { ...record, title };
    const change = {
      before: record,
      record: next,
      entries,
      removed: [],
      action: 'updated',
      fields: ['title'],
      key: '',
      messages: [],
    };
    const done = finishChange(change, ctx, now);
    await events.write(tx, ctx.tenantId, writeJson([done], ctx, now));
    await client.query('COMMIT');
    const viewer = { userId: ctx.userId, calendar, readerZone: calendar.time_zone };
    return JSON.stringify({ event: eventResponse(done.record, done.entries[0], viewer) });
  } finally {
    client.release();
  }
}

async function route({ method, url, headers }, body) {
  const ctx = { tenantId: headers['x-tenant'], userId: headers['x-user'] };
  const { pathname, searchParams } = new URL(url, 'http://floor');
  const [, , , , id, what, eventId] = pathname.split('/');
  if (what === 'instances') return month(ctx, id, searchParams);
  if (what === 'sync') {
    const { changes } = await feed.changes(ctx, id, { seq: Number(headers['x-after']), since: 0 }, 101);
    return JSON.stringify({ results: [], changes, sync_token: '', more: false });
  }
  if (method === 'POST') return create(ctx, id, { template: JSON.parse(headers['x-template']) });
  if (method === 'PUT') return update(ctx, id, eventId, JSON.parse(body));
  const { calendar, record, entry } = await events.find(db, ctx, id, eventId);
  return JSON.stringify({
    event: eventResponse(record, entry, { userId: ctx.userId, calendar, readerZone: calendar.time_zone }),
  });
}

serveFloor(async (request, body) => ({
  status: request.method === 'POST' && !request.url.endsWith('/sync') ? 201 : 200,
  json: await route(request, body),
}));
