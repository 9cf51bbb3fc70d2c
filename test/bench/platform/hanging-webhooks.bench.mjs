// `node test/bench/platform/hanging-webhooks.bench.mjs`: the time from an event to its arrival at half of the receivers, while the others
// respond too, and while these accept requests and do not respond. Both take turns; the receivers are processes of their own.
import { fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { withApp } from '../../../dist/cli/context.js';
import { Config } from '../../../dist/config/config.js';
import { provision } from '../../../dist/provision/provision.js';
import { freePort, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { preventJobs, print, withWorkspace } from '../support/workspace.mjs';

const { values: options } = parseArgs({
  options: {
    subscriptions: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '30' },
    // Tasks that are created in a second. Each has an event for all webhooks of its owner.
    rate: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '2' },
  },
});
const { subscriptions, seconds, rate, rounds } = Object.fromEntries(
  Object.entries(options).map(([name, value]) => [name, Number(value)]),
);
/** Webhooks of a member, the most that one may have; half of them have receivers that hang. */
const OF_MEMBER = 50;
const MEMBERS_OF_WORKSPACE = 4;
const CLIENTS = 8;
const SETTLED_MS = 3_000;

const ports = [await freePort(), await freePort()];
const receivers = ports.map((port) =>
  fork(fileURLToPath(new URL('webhook-receiver.mjs', import.meta.url)), [`${port}`, 'timed']),
);
const [lively, hanging] = ports.map((port) => `http://127.0.0.1:${port}/`);
const latencies = async () => (await fetch(`${lively}latencies`)).json();

const members = Math.ceil(subscriptions / OF_MEMBER);
const tenants = Array.from({ length: Math.ceil(members / MEMBERS_OF_WORKSPACE) }, (_, t) => ({
  slug: `bench-${t}`,
  users: Array.from(
    { length: Math.min(MEMBERS_OF_WORKSPACE, members - t * MEMBERS_OF_WORKSPACE) },
    (__, u) => ({
      email: `user-${t}-${u}@bench.example`,
      name: `User ${u}`,
      role: u === 0 ? 'owner' : 'member',
    }),
  ),
}));

try {
  await withWorkspace('hanging', async ({ databaseUrl, server }) => {
    const admin = new pg.Client(databaseUrl);
    // The database ends before this connection where the bench fails.
    admin.on('error', () => undefined);
    await admin.connect();
    await preventJobs(admin);
    const config = Config.parse({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn', DEMO: 'false' });
    const { users } = await withApp(config, (app) => provision(app, { tenants }, true));
    const application = await server(WITHOUT_MAILBOXES);
    const call = async ({ token }, path, body) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const url = `http://127.0.0.1:${application.port}/apis/v1${path}`;
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
    };
    const orders = users.flatMap((user) =>
      Array.from({ length: OF_MEMBER }, (_, n) => ({ user, url: `${n % 2 ? hanging : lively}${n}` })),
    );
    const create = async () => {
      for (let order = orders.pop(); order; order = orders.pop())
        await call(order.user, '/webhooks', { scope: 'user', url: order.url, event_types: ['task.created'] });
    };
    await Promise.all(Array.from({ length: CLIENTS }, create));
    await admin.query('ANALYZE webhooks');
    await admin.query('ANALYZE webhook_queues');

    let turn = 0;
    /** @returns milliseconds of all deliveries to receivers that respond */
    const run = async (isHanging) => {
      // What waited for the receivers ends first: nothing else locks the rows.
      await fetch(`${hanging}respond`);
      await delay(SETTLED_MS);
      await admin.query(`UPDATE webhook_deliveries SET state = 'failed' WHERE state = 'pending'`);
      // As if the receivers of each turn began to hang now.
      await admin.query(
        `UPDATE webhook_queues SET failures = 0, failing_since = NULL, is_slow = false, held_until = now(), due_at = 'infinity',
                ready_at = 'infinity', claims = claims + 1`,
      );
      if (isHanging) await fetch(`${hanging}hang`);
      await latencies();
      application.forgetPeak();
      for (let n = 0; n < rate * seconds; n += 1) {
        const at = performance.now();
        await call(users[(turn += 7) % users.length], '/tasks', { title: `Task ${n}` });
        await delay(Math.max(0, 1000 / rate - (performance.now() - at)));
      }
      const expected = rate * seconds * (OF_MEMBER / 2);
      const times = [];
      for (let left = 120; times.length < expected && left > 0; left -= 1) {
        times.push(...(await latencies()));
        await delay(500);
      }
      if (times.length < expected) throw new Error(`${times.length} of ${expected} deliveries arrived`);
      const at = (part) => times.toSorted((a, b) => a - b)[Math.floor(part * times.length)];
      const waiting = (await (await fetch(`${hanging}count`)).json()).count;
      return { p50: at(0.5), p95: at(0.95), p99: at(0.99), peak: application.peakMemory, waiting };
    };
    await run(false);
    print(
      `| receivers that hang | p50, ms | p95, ms | p99, ms | requests to them so far | peak of the server, MB |\n| --- | --- | --- | --- | --- | --- |`,
    );
    const shares = [];
    for (let round = 0; round < rounds; round += 1) {
      const figures = {};
      for (const isHanging of round % 2 === 0 ? [false, true] : [true, false]) {
        const { p50, p95, p99, peak, waiting } = (figures[isHanging] = await run(isHanging));
        const count = isHanging ? subscriptions / 2 : 0;
        print(`| ${[count, p50, p95, p99, waiting, peak].map((value) => value.toFixed(0)).join(' | ')} |`);
      }
      shares.push(figures.true.p95 / figures.false.p95);
    }
    print(
      `p95 against the idle one, by round: ${shares.map((share) => share.toFixed(2)).join(', ')} (bar: 2)`,
    );
    await admin.end();
  });
} finally {
  for (const each of receivers) each.kill();
}
