// `node test/bench/platform/concurrency.bench.mjs`: reads and creations of notes with 1, 2 and 4 processes (WEB_CONCURRENCY), and how busy the
// machine was: with all processors busy, more processes cannot raise the rate.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Connection } from '../support/connection.mjs';
import { WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';

const { values: options } = parseArgs({
  options: {
    processes: { type: 'string', default: '1,2,4' },
    connections: { type: 'string', default: '32' },
    seconds: { type: 'string', default: '4' },
  },
});
const NOTES = 200;
const BODY = 'Words of a note for the bench, repeated to about one kilobyte. '.repeat(16);

await withWorkspace('concurrency', async ({ databaseUrl, owner, server }) => {
  const admin = new pg.Client(databaseUrl);
  await admin.connect();
  const head = `Host: bench\r\nAuthorization: Bearer ${owner.token}\r\n`;
  const post = (n) => {
    const json = JSON.stringify({ title: `Note ${n}`, content: BODY });
    return `POST /apis/v1/notes HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
  };
  const ids = [];
  print(
    `${availableParallelism()} processors\n\n| processes | operation | requests a second | p50, p99 ms | machine busy |`,
  );
  print('| --- | --- | --- | --- | --- |');
  for (const processes of options.processes.split(',')) {
    const application = await server({ ...WITHOUT_MAILBOXES, WEB_CONCURRENCY: processes });
    const connection = await Connection.open(application.port);
    while (ids.length < NOTES)
      ids.push(JSON.parse((await connection.exchange(post(ids.length))).body).note.id);
    connection.close();
    const read = (n) => `GET /apis/v1/notes/${ids[n % NOTES]} HTTP/1.1\r\n${head}\r\n`;
    for (const [name, request] of Object.entries({ read, create: post })) {
      // Each process compiles its code for itself.
      await load(application.port, request, 3 * Number(processes));
      const { rate, p50, p99, busy } = await load(application.port, request, Number(options.seconds));
      print(
        `| ${processes} | ${name} | ${rate.toFixed(0)} | ${p50.toFixed(1)}, ${p99.toFixed(1)} | ${(100 * busy).toFixed(0)} % |`,
      );
    }
    await application.stop();
    // Otherwise the next server would deliver the events of these creations, and plan with the statistics of an empty table.
    await admin.query('DELETE FROM outbox');
    await admin.query('VACUUM (ANALYZE)');
  }
  await admin.end();
});

/** Processor time of the machine so far: all, and without work. */
function machine() {
  const [, ...times] = readFileSync('/proc/stat', 'utf8').split('\n')[0].trim().split(/\s+/).map(Number);
  return { all: times.reduce((sum, time) => sum + time, 0), idle: times[3] + times[4] };
}

/** Closed-loop connections for some seconds. */
async function load(port, request, seconds) {
  const times = [];
  const [before, began] = [machine(), performance.now()];
  const end = began + 1000 * seconds;
  const loop = async () => {
    const connection = await Connection.open(port);
    while (performance.now() < end) {
      const sent = performance.now();
      const { status, body } = await connection.exchange(request(times.length));
      if (status >= 300) throw new Error(`${status} ${body.slice(0, 300)}`);
      times.push(performance.now() - sent);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: Number(options.connections) }, loop));
  const [after, sorted] = [machine(), times.toSorted((a, b) => a - b)];
  return {
    rate: (1000 * times.length) / (performance.now() - began),
    p50: sorted[Math.floor(sorted.length / 2)],
    p99: sorted[Math.floor(sorted.length * 0.99)],
    busy: 1 - (after.idle - before.idle) / (after.all - before.all),
  };
}
