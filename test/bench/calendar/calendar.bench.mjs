/**
 * Calendars against their floor: a month, an event, a poll of the feed, creation and update; and free/busy of 20 calendars.
 * `npm run build`, then `node test/bench/calendar/calendar.bench.mjs` (`--events N`, `--series N`, `--seconds S`, `--connections N`).
 * Server and floor take turns; the ratios count.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Connection } from '../support/connection.mjs';
import { cpuOf, startScript } from '../support/processes.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    series: { type: 'string', default: '100000' },
    calendars: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '8' },
  },
});
const CALENDARS = Number(options.calendars);
const OWN = 20;

let counter = 0;

await withWorkspace('calendar', async ({ databaseUrl, pool, owner, server, stopAtEnd }) => {
  const seeded = await seed(databaseUrl, owner);
  const application = await server();
  const settings = { DATABASE_URL: databaseUrl, DATABASE_POOL_MAX: String(pool) };
  const floor = stopAtEnd(
    await startScript('the floor', new URL('calendar-floor.mjs', import.meta.url), settings),
  );
  const backends = new pg.Client(databaseUrl);
  await backends.connect();
  stopAtEnd({ stop: () => backends.end() });
  await measure({ application, floor, owner, backends, ...seeded });
  print(`peak memory ${application.peakMemory.toFixed(0)} MB`);
});

/** Calendars with single events over two years and weekly series. @returns ids of the caller's calendars and their events */
async function seed(url, { id: owner, tenant_id: tenant }) {
  const client = new pg.Client(url);
  await client.connect();
  const began = performance.now();
  // Without checks of foreign keys: the statements below insert both sides.
  await client.query(`SET session_replication_role = replica; SET synchronous_commit = off`);
  const { rows: indexes } = await client.query(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS text FROM pg_index
      WHERE indrelid = ANY ('{calendar_events,calendar_entries}'::regclass[]) AND NOT indisunique`,
  );
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  const { rows } = await client.query(
    `INSERT INTO calendars (tenant_id, id, owner_id, name, description, color, time_zone, is_default, affects_free_busy,
                            default_reminders, revision, created_at, updated_at)
     SELECT $1, gen_random_uuid(), CASE WHEN n <= ${OWN} THEN $2::uuid ELSE gen_random_uuid() END, 'Calendar ' || n, '',
            '#2f80ed', 'Europe/Berlin', n = 1, true, '[]', 1, now(), now()
       FROM generate_series(1, $3::int) n RETURNING id, owner_id`,
    [tenant, owner, CALENDARS],
  );
  const all = rows.map((row) => row.id);
  const own = rows.filter((row) => row.owner_id === owner).map((row) => row.id);
  const insert = (count, rules, wide, end) =>
    client.query(
      `WITH made AS (
         INSERT INTO calendar_events (tenant_id, id, uid, origin_calendar_id, organizer_id, organizer_email, organizer_name,
           origin, title, description, location, locations, starts, ends, time_zone, exact_duration, rules, added, excluded,
           status, show_as, visibility, categories, links, custom, proposals_allowed, sequence, dtstamp, participants_count,
           overrides_count, title_key, revision, created_by, updated_by, created_at, updated_at)
         SELECT $1, uuid_v7(), uuid_v7()::text, ($2::uuid[])[1 + n % cardinality($2)], $3, 'ada@bench.example',
           'Ada', 'internal', 'Event ' || n, 'Agenda: budget, rooms and the next steps', 'Room 1', '[]',
           to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS'), to_char(at + interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS'),
           'Europe/Berlin', false, $4, '{}', '{}', 'confirmed', 'busy', 'default', '{}', '[]', '{}', true, 0, now(), 0, 0,
           'event ' || n, 1, $3, $3, now(), now()
           FROM generate_series(1, $5::int) n,
                LATERAL (SELECT timestamp '2026-01-01' + (n::bigint * 7919 % 1051200) * interval '1 minute' AS at) time
         RETURNING id, uid, origin_calendar_id, starts)
       INSERT INTO calendar_entries (tenant_id, calendar_id, event_id, uid, span_start, span_end, wide, hidden, change_seq,
                                     next_reminder_at)
       SELECT $1, origin_calendar_id, id, uid, starts::timestamp AT TIME ZONE 'UTC' - interval '26 hours',
              ${end}, ${wide}, false, row_number() OVER (), NULL FROM made`,
      [tenant, all, owner, rules, count],
    );
  await insert(
    Number(options.events),
    [],
    false,
    `starts::timestamp AT TIME ZONE 'UTC' + interval '30 hours'`,
  );
  await insert(Number(options.series), ['FREQ=WEEKLY'], true, `'infinity'`);
  for (const { text } of indexes) await client.query(text);
  await client.query('UPDATE calendars SET change_seq = 10000000');
  await client.query('VACUUM (ANALYZE)');
  const { rows: events } = await client.query(
    `SELECT calendar_id, event_id FROM calendar_entries WHERE calendar_id = ANY ($1) AND NOT wide LIMIT 2000`,
    [own],
  );
  const { rows: templates } = await client.query(
    `SELECT row_to_json(event) AS event FROM calendar_events event WHERE rules = '{}' LIMIT 1`,
  );
  await client.end();
  print(`seeded in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  return { own, events, template: { ...templates[0].event, participants: [], overrides: [] } };
}

async function measure({ application, floor, owner, backends, own, events, template }) {
  // The floor polls the changes after this number.
  let after = 10_000_000;
  const head = () =>
    `Host: bench\r\nAuthorization: Bearer ${owner.token}\r\nX-Tenant: ${owner.tenant_id}\r\nX-User: ${owner.id}\r\nX-After: ${after}\r\nX-Template: ${JSON.stringify(template)}\r\n`;
  const get = (path) => `GET /apis/v1/calendar/${path} HTTP/1.1\r\n${head()}\r\n`;
  const send = (method, path, body) => {
    const json = JSON.stringify(body);
    return `${method} /apis/v1/calendar/${path} HTTP/1.1\r\n${head()}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
  };
  const tokens = new Map();
  const readTokens = async () => {
    const connection = await Connection.open(application.port);
    const { body } = await connection.exchange(get('?limit=200').replace('/calendar/?', '/calendar?'));
    connection.close();
    for (const { id, sync_token } of JSON.parse(body).calendars) tokens.set(id, sync_token);
  };
  await readTokens();
  const calendarOf = (n) => own[n % own.length];
  const eventOf = (n) => events[n % events.length];
  const attendees = Array.from({ length: 50 }, (_, n) => `guest${n}@outside.example`);
  const times = { start: { date_time: '2026-06-01T09:00:00', time_zone: 'Europe/Berlin' }, duration: 'PT1H' };
  const month = 'instances?from=2026-06-01T00:00:00Z&to=2026-07-01T00:00:00Z&limit=1000';
  const day = { from: '2026-06-01T00:00:00Z', to: '2026-06-08T00:00:00Z' };
  const operations = {
    read: (n) => get(`${eventOf(n).calendar_id}/events/${eventOf(n).event_id}`),
    'month of a calendar': (n) => get(`${calendarOf(n)}/${month}`),
    'empty poll': (n) => send('POST', `${calendarOf(n)}/sync`, { sync_token: tokens.get(calendarOf(n)) }),
    create: (n) => send('POST', `${calendarOf(n)}/events`, { title: `New ${n}`, ...times }),
    update: (n) =>
      send('PUT', `${eventOf(n).calendar_id}/events/${eventOf(n).event_id}`, { title: `Title ${n}` }),
  };
  // The first requests compile code, and the plans of their statements stay until the next ANALYZE.
  for (const request of Object.values(operations))
    for (const server of [application, floor]) await leg(server, backends, request);
  await backends.query('VACUUM (ANALYZE)');
  application.forgetPeak();
  await readTokens();
  const { rows } = await backends.query('SELECT max(change_seq) AS last FROM calendars');
  after = rows[0].last;
  let read;
  for (const [name, request] of Object.entries(operations)) {
    const figures = await compare(application, floor, backends, request);
    read ??= figures;
    const { share, cpuShare, ...rest } = figures;
    print(
      `${name.padEnd(22)} ${share.toFixed(0).padStart(4)} % of the floor (processor time ${cpuShare.toFixed(0)} %)   ${line(rest, read)}   ${application.peakMemory.toFixed(0)} MB`,
    );
  }
  const meetings = await makeMeetings(application, (n) =>
    send('POST', `${calendarOf(n)}/events`, {
      title: `Meeting ${n}`,
      ...times,
      attendees,
      send_updates: 'none',
    }),
  );
  const meetingOf = (n) => meetings[n % meetings.length];
  const alone = {
    'create, 50 attendees': (n) =>
      send('POST', `${calendarOf(n)}/events`, {
        title: `Meeting ${n}`,
        ...times,
        attendees,
        send_updates: 'none',
      }),
    'update, 50 attendees': (n) =>
      send('PUT', `${meetingOf(n).calendar_id}/events/${meetingOf(n).id}`, {
        title: `Title ${n}`,
        send_updates: 'none',
      }),
    'free/busy, 20, a week': () =>
      send('POST', 'scheduling/free_busy', {
        ...day,
        attendees: own.map((calendar_id) => ({ calendar_id })),
      }),
  };
  for (const [name, request] of Object.entries(alone)) {
    const figures = await leg(application, backends, request);
    print(`${name.padEnd(22)} ${line(figures, read)}   ${application.peakMemory.toFixed(0)} MB`);
  }
}

/** @param request the creation of the meeting with this number @returns meetings, more than callers update at a time */
async function makeMeetings({ port }, request) {
  const connection = await Connection.open(port);
  const made = [];
  for (let n = 0; n < 200; n += 1) made.push(JSON.parse((await connection.exchange(request(n))).body).event);
  connection.close();
  return made;
}

/** Rate, median time, and processor time of a request in Node and in PostgreSQL; the last column compares with a read. */
function line({ rate, p50, cpu, pgCpu }, read) {
  return `${rate.toFixed(0).padStart(6)}/s   p50 ${p50.toFixed(2)} ms   node ${cpu.toFixed(2)} ms   postgres ${pgCpu.toFixed(2)} ms   ${(p50 / read.p50).toFixed(2)} reads (processor time ${((cpu + pgCpu) / (read.cpu + read.pgCpu)).toFixed(2)})`;
}

/** Server, floor, floor, server: the drift of a busy machine cancels out. */
async function compare(application, floor, backends, request) {
  const legs = { application: [], floor: [] };
  for (const turn of ['application', 'floor', 'floor', 'application']) {
    const [active, idle] = turn === 'floor' ? [floor, application] : [application, floor];
    idle.pause();
    legs[turn].push(await leg(active, backends, request));
    idle.resume();
  }
  const mean = (turn, key) => (legs[turn][0][key] + legs[turn][1][key]) / 2;
  const [rate, p50, cpu, pgCpu] = ['rate', 'p50', 'cpu', 'pgCpu'].map((key) => mean('application', key));
  const cpuShare = (100 * (mean('floor', 'cpu') + mean('floor', 'pgCpu'))) / (cpu + pgCpu);
  return { rate, p50, cpu, pgCpu, share: (100 * rate) / mean('floor', 'rate'), cpuShare };
}

/** Milliseconds of processor time of all backends so far. */
async function backendTime(backends) {
  const { rows } = await backends.query(
    `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'`,
  );
  return new Map(rows.map(({ pid }) => [pid, 1000 * cpuOf(pid)]));
}

/**
 * Closed-loop connections for some seconds.
 * @returns requests a second; median time and processor time of a request, milliseconds
 */
async function leg(server, backends, request) {
  const before = await backendTime(backends);
  const cpu = server.cpu;
  const end = performance.now() + Number(options.seconds) * 1000;
  const times = [];
  const loop = async () => {
    const connection = await Connection.open(server.port);
    while (performance.now() < end) {
      const began = performance.now();
      const { status, body } = await connection.exchange(request((counter += 1)));
      if (status !== 200 && status !== 201) throw new Error(`${status} ${body.slice(0, 300)}`);
      times.push(performance.now() - began);
    }
    connection.close();
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: Number(options.connections) }, loop));
  const rate = (1000 * times.length) / (performance.now() - began);
  const each = (milliseconds) => milliseconds / times.length;
  let pgCpu = 0;
  for (const [pid, time] of await backendTime(backends)) pgCpu += time - (before.get(pid) ?? 0);
  const p50 = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
  return { rate, p50, cpu: each(1000 * (server.cpu - cpu)), pgCpu: each(pgCpu) };
}
