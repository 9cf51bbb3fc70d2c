// `node test/bench/platform/webhooks.bench.mjs`: deliveries of webhooks a second, against a bare loop that posts the same bodies by undici,
// in turns (server, loop, loop, server), and the memory of the server with few and with many pending deliveries.
import { fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Agent, request } from 'undici';
import { cpuOf, databaseCpu, freePort, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { preventJobs, print, withWorkspace } from '../support/workspace.mjs';

const { values: options } = parseArgs({
  options: {
    deliveries: { type: 'string', default: '20000' },
    webhooks: { type: 'string', default: '32' },
    pending: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '4' },
    // The processor profile of the server goes there.
    profile: { type: 'string' },
  },
});
const { deliveries, webhooks, pending, rounds } = Object.fromEntries(
  ['deliveries', 'webhooks', 'pending', 'rounds'].map((name) => [name, Number(options[name])]),
);
const TASKS = 200;

const port = await freePort();
const receiver = fork(fileURLToPath(new URL('webhook-receiver.mjs', import.meta.url)), [`${port}`]);
const address = `http://127.0.0.1:${port}/`;
const state = async () => (await fetch(address)).json();

try {
  await withWorkspace('webhooks', async ({ databaseUrl, owner, server }) => {
    const admin = new pg.Client(databaseUrl);
    // The database ends before this connection where the bench fails.
    admin.on('error', () => undefined);
    await admin.connect();
    await preventJobs(admin);
    const { profile } = options;
    const NODE_OPTIONS = profile ? `--cpu-prof --cpu-prof-dir=${profile}` : '';
    const application = await server({ ...WITHOUT_MAILBOXES, NODE_OPTIONS });
    const call = async (path, body) => {
      const headers = { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' };
      const url = `http://127.0.0.1:${application.port}/apis/v1${path}`;
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
      return response.json();
    };
    const tasks = [];
    for (let n = 0; n < TASKS; n += 1) {
      const { task } = await call('/tasks', { title: `Task ${n}`, description: '<p>Words</p>'.repeat(20) });
      tasks.push(task.id);
    }
    await delay(1_000);
    for (let n = 0; n < webhooks; n += 1)
      await call('/webhooks', { scope: 'user', url: `${address}${n}`, event_types: ['task.created'] });

    /** Makes so many deliveries pending, and waits for them. @returns figures, and the largest RSS of the server in MB */
    const run = async (count) => {
      const before = (await state()).count;
      await admin.query(
        `WITH events AS MATERIALIZED (
           SELECT gen_random_uuid() AS id, jsonb_build_object('task_id', ($1::uuid[])[1 + n % ${TASKS}], 'revision', 1) AS facts
             FROM generate_series(1, ceil($2 / ${webhooks}.0)::int) AS n)
         INSERT INTO webhook_deliveries (tenant_id, webhook_id, id, event_type, facts, occurred_at, due_at)
         SELECT hook.tenant_id, hook.id, event.id, 'task.created', event.facts, now(), now()
           FROM webhooks hook CROSS JOIN events event`,
        [tasks, count],
      );
      await admin.query('ANALYZE');
      application.forgetPeak?.();
      const goal = before + Math.ceil(count / webhooks) * webhooks;
      const figures = await measured(goal - before, async () => {
        await admin.query('UPDATE webhook_queues SET due_at = now(), held_until = now(), ready_at = now()');
        while ((await state()).count < goal) await delay(50);
      });
      return { ...figures, peak: application.peakMemory };
    };

    /** @returns deliveries a second, and the processor time of each in the server, the database and the receiver */
    const measured = async (count, work) => {
      const processor = async () => [
        application.cpu,
        await databaseCpu(databaseUrl),
        cpuOf(receiver.pid),
        process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
      ];
      const [began, before] = [performance.now(), await processor()];
      await work();
      const seconds = (performance.now() - began) / 1000;
      const cpu = (await processor()).map((after, n) => (1e6 * (after - before[n])) / count);
      return { rate: count / seconds, server: cpu[0], database: cpu[1], receiver: cpu[2], bare: cpu[3] };
    };

    const few = await run(2_000);
    const { last } = await state();
    const turns = { server: [], bare: [] };
    for (let round = 0; round < rounds; round += 1) {
      const order = round % 2 === 0 ? ['server', 'bare'] : ['bare', 'server'];
      for (const turn of order) {
        if (turn === 'server') {
          turns.server.push(await run(deliveries));
          continue;
        }
        application.pause();
        turns.bare.push(await measured(deliveries, () => bareLoop(last, deliveries)));
        application.resume();
      }
    }
    const share = median(turns.server.map(({ rate }, n) => rate / turns.bare[n].rate));
    const of = (turn, figure) => median(turns[turn].map((each) => each[figure])).toFixed(0);
    print(
      `| sender | deliveries a second | processor time of each in the sender, us | in PostgreSQL | in the receiver |\n| --- | --- | --- | --- | --- |`,
    );
    print(
      `| server, ${webhooks} webhooks | ${of('server', 'rate')} | ${of('server', 'server')} | ${of('server', 'database')} | ${of('server', 'receiver')} |`,
    );
    print(
      `| bare loop of undici | ${of('bare', 'rate')} | ${of('bare', 'bare')} | | ${of('bare', 'receiver')} |`,
    );
    print(`share: ${(100 * share).toFixed(0)} %, median of ${rounds} rounds (bar: 50 %)`);
    const many = await run(pending);
    print(`| pending deliveries | deliveries a second | peak of the server, MB |\n| --- | --- | --- |`);
    const show = (count, { rate, peak }) => print(`| ${count} | ${rate.toFixed(0)} | ${peak.toFixed(0)} |`);
    show(2_000, few);
    show(deliveries, turns.server.at(-1));
    show(pending, many);
    await admin.end();
  });
} finally {
  receiver.kill();
}

/** Posts a body so many times on as many connections as there are webhooks. */
async function bareLoop(body, count) {
  const dispatcher = new Agent();
  let left = count;
  const loop = async () => {
    while (left-- > 0) {
      const response = await request(address, { method: 'POST', body, dispatcher });
      await response.body.dump();
    }
  };
  await Promise.all(Array.from({ length: webhooks }, loop));
  await dispatcher.close();
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
