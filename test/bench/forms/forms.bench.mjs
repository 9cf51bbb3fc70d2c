/**
 * Forms against their floor: submissions, a page of responses, analytics and exports of a form with 20 questions.
 * `npm run build`, then `node test/bench/forms/forms.bench.mjs` (`--responses N`, `--seconds S`, `--connections 1,8,32`,
 * `--large N` for the memory of an export with so many responses). Server and floor take turns; the ratios count.
 */
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Connection } from '../support/connection.mjs';
import { databaseCpu, execute, startScript } from '../support/processes.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';

const { values: options } = parseArgs({
  options: {
    responses: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '1,8,32' },
    large: { type: 'string', default: '0' },
  },
});
const RESPONSES = Number(options.responses);
const LARGE = Number(options.large);
const SECONDS = Number(options.seconds);
const CHOICES = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, label: `Choice ${id}` }));
const TYPES = ['short_text', 'single_choice', 'number', 'date', 'rating'];

/** Twenty questions: four of each type. */
const QUESTIONS = Array.from({ length: 20 }, (_, n) => ({
  id: `q${n}`,
  type: TYPES[n % TYPES.length],
  title: `Question ${n}`,
  ...(n % 5 === 1 && { options: CHOICES }),
}));
const ANSWERS = Object.fromEntries(
  QUESTIONS.map(({ id }, n) => [id, ['An answer in a few words', 'b', 1234, '2026-11-21', 4][n % 5]]),
);
/** The same answers with some variation, as an SQL expression of `n`. */
const ANSWERS_SQL = `jsonb_build_object(${QUESTIONS.map(({ id }, n) => {
  const values = [
    `'An answer in a few words, number ' || n`,
    `substr('abcde', 1 + n % 5, 1)`,
    `n % 1000`,
    `to_char(date '2026-01-01' + n % 300, 'YYYY-MM-DD')`,
    `1 + n % 5`,
  ];
  return `'${id}', ${values[n % 5]}`;
}).join(', ')})`;

await withWorkspace('forms', async ({ databaseUrl, pool, owner, server, stopAtEnd }) => {
  const application = await server();
  const settings = { DATABASE_URL: databaseUrl, DATABASE_POOL_MAX: String(pool) };
  const floor = stopAtEnd(
    await startScript('the floor', new URL('forms-floor.mjs', import.meta.url), settings),
  );
  const headers = { authorization: `Bearer ${owner.token}`, 'x-tenant': owner.tenant_id, 'x-user': owner.id };
  const form = await publish(application, headers);
  const bench = { application, floor, databaseUrl, headers, path: `/apis/v1/forms/${form}` };
  await submissions(bench);
  await seed(databaseUrl, owner.tenant_id, form, RESPONSES);
  await listPages(bench);
  await analytics(bench);
  for (const format of ['csv', 'xlsx']) await exports(bench, format, RESPONSES);
  await besideAnExport(bench);
  if (LARGE === 0) return;
  await seed(databaseUrl, owner.tenant_id, form, LARGE);
  for (const format of ['csv', 'xlsx']) await exports(bench, format, LARGE, ['application']);
});

async function publish({ port }, headers) {
  const post = async (path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}/apis/v1${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()).form.id;
  };
  const definition = { sections: [{ id: 'main', title: 'Main', questions: QUESTIONS }], logic: [] };
  const id = await post('/forms', { title: 'Bench', definition });
  return post(`/forms/${id}/publish`, {});
}

/** Replaces the responses of the form. */
async function seed(url, tenant, form, count) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query('DELETE FROM form_responses WHERE tenant_id = $1 AND form_id = $2', [tenant, form]);
  await client.query(
    `INSERT INTO form_responses (tenant_id, form_id, id, version, answers, search_text, submitted_at, updated_at)
     SELECT $1, $2, gen_random_uuid(), 1, ${ANSWERS_SQL}, 'an answer in a few words', at, at
       FROM generate_series(1, $3::int) n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 minute' AS at) time`,
    [tenant, form, count],
  );
  await client.query('VACUUM (ANALYZE) form_responses');
  await client.end();
}

function headOf(headers) {
  return Object.entries({ Host: 'bench', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

/** Closed-loop connections for some seconds. @returns requests a second, p50 and p99 in milliseconds */
async function load(port, request, connections, ended = () => false) {
  const end = performance.now() + SECONDS * 1000;
  const times = [];
  const loop = async () => {
    const connection = await Connection.open(port);
    while (performance.now() < end && !ended()) {
      const began = performance.now();
      const { status, body } = await connection.exchange(request);
      if (status !== 200 && status !== 201) throw new Error(`${status} ${body.slice(0, 300)}`);
      times.push(performance.now() - began);
    }
    connection.close();
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: connections }, loop));
  const sorted = times.toSorted((a, b) => a - b);
  const quantile = (q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
  return {
    rate: (1000 * times.length) / (performance.now() - began),
    p50: quantile(0.5),
    p99: quantile(0.99),
  };
}

/** Server, floor, floor, server: the drift of a busy machine cancels out. The server does not deliver the events of the floor. */
async function compare({ application, floor, databaseUrl }, name, request, connections) {
  const legs = { application: [], floor: [] };
  for (const turn of ['application', 'floor', 'floor', 'application']) {
    const [active, idle] = turn === 'floor' ? [floor, application] : [application, floor];
    idle.pause();
    const [cpu, database] = [active.cpu, await databaseCpu(databaseUrl)];
    const leg = await load(active.port, request, connections);
    const own = (active.cpu - cpu) / leg.rate;
    legs[turn].push({
      ...leg,
      cpu: own,
      total: own + ((await databaseCpu(databaseUrl)) - database) / leg.rate,
    });
    await execute(databaseUrl, 'DELETE FROM outbox');
    idle.resume();
  }
  const mean = (turn, key) => (legs[turn][0][key] + legs[turn][1][key]) / 2;
  const share = (key, up, down) => `${((100 * mean(up, key)) / mean(down, key)).toFixed(0)} %`;
  print(
    `${name.padEnd(14)} ${String(connections).padStart(2)} conn.: ${share('rate', 'application', 'floor')} of the floor, processor time ${share('cpu', 'floor', 'application')}, with the database ${share('total', 'floor', 'application')}, ${mean('application', 'rate').toFixed(0)}/s, p50 ${mean('application', 'p50').toFixed(2)} ms, p99 ${mean('application', 'p99').toFixed(2)} ms`,
  );
}

async function submissions(bench) {
  const body = JSON.stringify({ answers: ANSWERS });
  const request = `POST ${bench.path}/submit HTTP/1.1\r\n${headOf(bench.headers)}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  await warmUp(bench, request);
  for (const connections of options.connections.split(',').map(Number))
    await compare(bench, 'submit', request, connections);
}

/** The first requests compile code, and their plans are made without statistics of the tables. */
async function warmUp({ application, floor, databaseUrl }, request) {
  for (const { port } of [application, floor]) await load(port, request, 8);
  await execute(databaseUrl, 'VACUUM (ANALYZE)');
}

async function listPages(bench) {
  const request = `GET ${bench.path}/responses HTTP/1.1\r\n${headOf(bench.headers)}\r\n`;
  await compare(bench, 'page of 50', request, 8);
}

/** Reads a response to its end. @returns seconds and bytes */
function download({ port }, path, headers) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    let bytes = 0;
    http
      .get({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`));
        response.on('data', (chunk) => (bytes += chunk.length)).on('error', reject);
        response.on('end', () => resolve({ seconds: (performance.now() - began) / 1000, bytes }));
      })
      .on('error', reject);
  });
}

async function analytics({ application, path, headers }) {
  const { seconds } = await download(application, `${path}/analytics`, headers);
  print(`analytics: ${Math.round(RESPONSES / seconds)} responses/s, ${seconds.toFixed(1)} s`);
}

async function exports(
  { application, floor, path, headers },
  format,
  count,
  turns = ['application', 'floor', 'floor', 'application'],
) {
  const legs = { application: [], floor: [] };
  let growth = 0;
  for (const turn of turns) {
    const active = turn === 'floor' ? floor : application;
    active.forgetPeak();
    const [before, cpu] = [active.peakMemory, active.cpu];
    const leg = await download(active, `${path}/export.${format}`, headers);
    legs[turn].push({ ...leg, cpu: active.cpu - cpu });
    if (active === application) growth = Math.max(growth, application.peakMemory - before);
  }
  const mean = (turn, key) => legs[turn].reduce((sum, leg) => sum + leg[key], 0) / legs[turn].length;
  const share = (key) => `${((100 * mean('floor', key)) / mean('application', key)).toFixed(0)} %`;
  const shares =
    legs.floor.length === 0 ? '' : `${share('seconds')} of the floor, processor time ${share('cpu')}, `;
  print(
    `export ${format.padEnd(4)} ${count} responses: ${shares}${Math.round(count / mean('application', 'seconds'))} rows/s, ${(legs.application[0].bytes / 1e6).toFixed(0)} MB; memory +${growth.toFixed(0)} MB (bar 40)`,
  );
}

/** Other requests without an export and beside one. */
async function besideAnExport({ application, path, headers }) {
  const request = `GET ${path} HTTP/1.1\r\n${headOf(headers)}\r\n`;
  const alone = await load(application.port, request, 4);
  let finished = false;
  const running = download(application, `${path}/export.xlsx`, headers).then(() => (finished = true));
  await delay(200);
  const beside = await load(application.port, request, 4, () => finished);
  await running;
  print(
    `reads beside an export: p99 ${beside.p99.toFixed(1)} ms, alone ${alone.p99.toFixed(1)} ms: ${(beside.p99 / alone.p99).toFixed(1)} times (bar 3)`,
  );
}
