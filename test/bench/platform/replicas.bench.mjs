// `node test/bench/platform/replicas.bench.mjs` (after a build): processor time of the primary, of the replicas and of the application for
// a read, with 0, 1 and 2 replicas, while another member writes. About two minutes. The servers share the machine, so the rates of the
// load mean little; reads a second that one core of each database server carries follow from the processor time.
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { headOf, jsonRequest, load } from '../support/compare.mjs';
import { Connection } from '../support/connection.mjs';
import { cpuOf, execute, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';

const NOTES = 2_000;
const EVENTS = 300;
const SECONDS = 5;
const CONNECTIONS = 6;
/** Another member writes a note for each tenth read. */
const READS_PER_WRITE = 10;
const CONTENT = `<p>${'Minutes of a meeting about budgets, plans and travel. '.repeat(20)}</p>`;

/** Copies a running primary as pg_basebackup does, and starts the copy as a standby. */
async function startReplica({ directory, databaseUrl, stopAtEnd }, n) {
  const dataDir = path.join(directory, `replica-${n}`);
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(`SELECT pg_backup_start('bench', true)`);
  const copy = path.join(dataDir, 'postgres');
  cpSync(path.join(directory, 'postgres'), copy, {
    recursive: true,
    filter: (source) => !/postmaster\.(?:pid|opts)$/.test(source),
  });
  const { rows } = await client.query(`SELECT labelfile FROM pg_backup_stop()`);
  await client.end();
  writeFileSync(path.join(copy, 'backup_label'), rows[0].labelfile);
  writeFileSync(path.join(copy, 'standby.signal'), '');
  const { searchParams, port, username } = new URL(databaseUrl);
  const database = await EmbeddedDatabase.open({
    dataDir,
    role: 'server',
    log: { info: () => undefined, warn: print, error: print },
    settings: {
      primary_conninfo: `host=${searchParams.get('host')} port=${port} user=${username} sslmode=disable`,
    },
  });
  stopAtEnd({
    stop: async () => {
      await database.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  });
  return database.url;
}

/** Seconds of processor time so far of the sessions and processes of servers, those of replication included, by process id. */
async function serverCpu(...urls) {
  const pids = `SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()`;
  const rows = (await Promise.all(urls.map((url) => execute(url, pids)))).flat();
  return new Map(rows.map(({ pid }) => [pid, cpuOf(pid) || 0]));
}

/** Sessions that ended meanwhile are left out. */
const since = (before, after) =>
  [...after].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0);

async function seed(port, headers) {
  const connection = await Connection.open(port);
  const send = async (text) => JSON.parse((await connection.exchange(text)).body);
  for (let n = 0; n < NOTES; n += 1)
    await send(jsonRequest('POST', '/apis/v1/notes', headers, { title: `Plan ${n % 97}`, content: CONTENT }));
  const { calendars } = await send(`GET /apis/v1/calendar HTTP/1.1\r\n${headOf(headers)}\r\n`);
  for (let n = 0; n < EVENTS; n += 1) {
    const day = String((n % 28) + 1).padStart(2, '0');
    const event = {
      title: `Meeting ${n}`,
      start: `2026-03-${day}T09:00:00`,
      end: `2026-03-${day}T10:00:00`,
      time_zone: 'Europe/Berlin',
    };
    const made = await send(
      jsonRequest('POST', `/apis/v1/calendar/${calendars[0].id}/events`, headers, event),
    );
    if (!made.event) throw new Error(JSON.stringify(made));
  }
  connection.close();
  return calendars[0].id;
}

/** Creates a note for each tenth read, until `reads.ended`. */
async function write(port, headers, reads) {
  const connection = await Connection.open(port);
  for (let n = 0; !reads.ended;) {
    if (reads.count < (n + 1) * READS_PER_WRITE) await delay(1);
    else {
      n += 1;
      await connection.exchange(
        jsonRequest('POST', '/apis/v1/notes', headers, { title: 'Written meanwhile' }),
      );
    }
  }
  connection.close();
}

const readsOf = async (server) =>
  Object.fromEntries(
    [
      ...(await server.metrics()).matchAll(/^database_replica_reads_total\{.*outcome="(\w+)".*\} (\d+)/gm),
    ].map(([, outcome, count]) => [outcome, Number(count)]),
  );

await withWorkspace(
  'replicas',
  async (bench) => {
    const [reader, writer] = bench.users.map(({ token }) => ({ Authorization: `Bearer ${token}` }));
    let server = await bench.server(WITHOUT_MAILBOXES);
    const calendar = await seed(server.port, reader);
    // The index of the search follows the writes.
    await delay(5_000);
    await server.stop();
    const urls = [await startReplica(bench, 1), await startReplica(bench, 2)];
    const paths = {
      'list of 50 notes': '/apis/v1/notes?limit=50',
      'search in 2,000 notes': '/apis/v1/search/notes?q=budgets%20plan',
      'month of a calendar': `/apis/v1/calendar/${calendar}/instances?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z`,
    };
    for (const count of [0, 1, 2]) {
      const used = urls.slice(0, count);
      server = await bench.server({ ...WITHOUT_MAILBOXES, DATABASE_REPLICA_URLS: used.join(',') });
      for (const [name, target] of Object.entries(paths)) {
        const reads = { count: 0, ended: false };
        const next = () => {
          reads.count += 1;
          return `GET ${target} HTTP/1.1\r\n${headOf(reader)}\r\n`;
        };
        const writes = write(server.port, writer, reads);
        await load(server.port, next, { connections: CONNECTIONS, seconds: 2 });
        const cpu = async () => [
          new Map([['application', server.cpu]]),
          await serverCpu(bench.databaseUrl),
          await serverCpu(...used),
        ];
        const [before, readsBefore] = [await cpu(), await readsOf(server)];
        const { rate, p50 } = await load(server.port, next, { connections: CONNECTIONS, seconds: SECONDS });
        const [after, readsAfter] = [await cpu(), await readsOf(server)];
        reads.ended = true;
        await writes;
        const [application, primary, replicas] = after.map((each, n) =>
          Math.round((1e6 * since(before[n], each)) / (rate * SECONDS)),
        );
        const sum = (reads) => Object.values(reads).reduce((total, each) => total + each, 0);
        const share = count
          ? (readsAfter.replica - readsBefore.replica) / (sum(readsAfter) - sum(readsBefore))
          : 0;
        const capacity = Math.min(1e6 / primary, count ? (1e6 * count) / replicas : Infinity);
        print(
          `${count} replicas, ${name}: primary ${primary} us, replicas ${replicas} us, application ${application} us a read; ` +
            `${(100 * share).toFixed(1)} % on replicas; one core each carries ${capacity.toFixed(0)} reads/s; p50 ${p50.toFixed(1)} ms`,
        );
      }
      await server.stop();
    }
  },
  ['Ada', 'Ben'],
);
