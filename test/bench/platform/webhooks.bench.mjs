// `node test/bench/platform/webhooks.bench.mjs`: deliveries of webhooks a second, against a bare loop that posts the same bodies by undici,
// and the memory of the server while many deliveries are pending.
import { fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Agent, request } from 'undici';
import { freePort, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { preventJobs, print, withWorkspace } from '../support/workspace.mjs';

const { values: options } = parseArgs({
  options: {
    deliveries: { type: 'string', default: '20000' },
    webhooks: { type: 'string', default: '32' },
    pending: { type: 'string', default: '100000' },
  },
});
const [deliveries, webhooks, pending] = [options.deliveries, options.webhooks, options.pending].map(Number);
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
    const application = await server(WITHOUT_MAILBOXES);
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

    /** Makes so many deliveries pending, and waits for them. @returns seconds, and the largest RSS of the server in MB */
    const run = async (count) => {
      const before = (await state()).count;
      await admin.query(
        `INSERT INTO webhook_deliveries (tenant_id, webhook_id, id, event_type, facts, occurred_at, due_at)
         SELECT hook.tenant_id, hook.id, gen_random_uuid(), 'task.created',
                jsonb_build_object('task_id', ($1::uuid[])[1 + n % ${TASKS}], 'revision', 1), now(), now()
           FROM webhooks hook CROSS JOIN generate_series(1, ceil($2 / ${webhooks}.0)::int) AS n`,
        [tasks, count],
      );
      await admin.query('ANALYZE webhook_deliveries');
      application.forgetPeak?.();
      const [began, used] = [performance.now(), application.cpu];
      await admin.query('UPDATE webhook_queues SET due_at = now(), held_until = now(), ready_at = now()');
      const goal = before + Math.ceil(count / webhooks) * webhooks;
      while ((await state()).count < goal) await delay(50);
      const made = goal - before;
      const cpu = (1e6 * (application.cpu - used)) / made;
      return { seconds: (performance.now() - began) / 1000, peak: application.peakMemory, count: made, cpu };
    };
    await run(2_000);
    const measured = await run(deliveries);
    const bare = await bareLoop((await state()).last, deliveries);
    const rate = measured.count / measured.seconds;
    print(
      `| sender | deliveries a second | processor time of each, us | peak of the server, MB |\n| --- | --- | --- | --- |`,
    );
    print(
      `| server, ${webhooks} webhooks | ${rate.toFixed(0)} | ${measured.cpu.toFixed(0)} | ${measured.peak.toFixed(0)} |`,
    );
    print(`| bare loop of undici | ${bare.rate.toFixed(0)} | ${bare.cpu.toFixed(0)} | |`);
    print(`share: ${((100 * rate) / bare.rate).toFixed(0)} % (bar: 50 %)`);
    const many = await run(pending);
    print(
      `with ${pending} pending: ${(many.count / many.seconds).toFixed(0)} a second, peak ${many.peak.toFixed(0)} MB`,
    );
    await admin.end();
  });
} finally {
  receiver.kill();
}

/** Posts a body so many times on as many connections as there are webhooks. */
async function bareLoop(body, count) {
  const dispatcher = new Agent();
  let left = count;
  const [began, used] = [performance.now(), process.cpuUsage()];
  const loop = async () => {
    while (left-- > 0) {
      const response = await request(address, { method: 'POST', body, dispatcher });
      await response.body.dump();
    }
  };
  await Promise.all(Array.from({ length: webhooks }, loop));
  await dispatcher.close();
  const { user, system } = process.cpuUsage(used);
  return { rate: count / ((performance.now() - began) / 1000), cpu: (user + system) / count };
}
