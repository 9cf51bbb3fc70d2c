// `node test/bench/platform/push.bench.mjs`: messages that `lib/web-push` encrypts a second, and push messages that a server sends a
// second, with the processor time of each and the memory of the server while many are pending.
import { fork } from 'node:child_process';
import { createECDH, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { encryptMessage } from '../../../dist/lib/web-push/index.js';
import { freePort, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { preventJobs, print, withWorkspace } from '../support/workspace.mjs';

const { values: options } = parseArgs({
  options: {
    messages: { type: 'string', default: '10000' },
    pending: { type: 'string', default: '20000' },
  },
});
const [messages, pending] = [options.messages, options.pending].map(Number);
/** The most that a member may have. */
const DEVICES = 50;
const TASKS = 200;
const ENCRYPTED = 20_000;

const port = await freePort();
const service = fork(fileURLToPath(new URL('webhook-receiver.mjs', import.meta.url)), [`${port}`]);
const address = `http://127.0.0.1:${port}/`;
const received = async () => (await (await fetch(address)).json()).count;

/** Keys of a device. @returns `keys` of a subscription */
function keysOfDevice() {
  const ecdh = createECDH('prime256v1');
  ecdh.generateKeys();
  return { p256dh: ecdh.getPublicKey('base64url'), auth: randomBytes(16).toString('base64url') };
}

/** @returns messages a second */
function encrypt() {
  const { p256dh, auth } = keysOfDevice();
  const receiver = {
    publicKey: Buffer.from(p256dh, 'base64url'),
    authSecret: Buffer.from(auth, 'base64url'),
  };
  const message = randomBytes(400);
  const began = performance.now();
  for (let n = 0; n < ENCRYPTED; n += 1) encryptMessage(message, receiver);
  return ENCRYPTED / ((performance.now() - began) / 1_000);
}

try {
  print(`encryption: ${encrypt().toFixed(0)} messages of 400 bytes a second`);
  await withWorkspace('push', async ({ databaseUrl, owner, server }) => {
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
    for (let n = 0; n < TASKS; n += 1)
      tasks.push((await call('/tasks', { title: `Task ${n}`, assignees: [owner.id] })).task.id);
    for (let n = 0; n < DEVICES; n += 1)
      await call('/notifications/push-subscriptions', { endpoint: `${address}${n}`, keys: keysOfDevice() });

    /** Queues so many messages, and waits for them. @returns messages a second, processor time of each, and peak of the server in MB */
    const run = async (count) => {
      await admin.query('DELETE FROM push_deliveries');
      await admin.query('DELETE FROM notifications');
      const of = Math.ceil(count / DEVICES);
      const before = await received();
      await admin.query(
        `INSERT INTO notifications (tenant_id, user_id, id, seq, type, subject_kind, subject_id, data, shown)
         SELECT $1, $2, gen_random_uuid(), n, 'task.assigned', 'task', ($3::uuid[])[1 + n % ${TASKS}], '{}', true
           FROM generate_series(1, $4::int) AS n`,
        [owner.tenant_id, owner.id, tasks, of],
      );
      application.forgetPeak?.();
      const [began, used] = [performance.now(), application.cpu];
      await admin.query(
        `INSERT INTO push_deliveries (tenant_id, user_id, subscription_id, notification_id, type, service, expires_at)
         SELECT device.tenant_id, device.user_id, device.id, notification.id, notification.type, device.service, now() + interval '1 day'
           FROM push_subscriptions device JOIN notifications notification
             ON notification.tenant_id = device.tenant_id AND notification.user_id = device.user_id`,
      );
      await admin.query('ANALYZE push_deliveries');
      const goal = before + of * DEVICES;
      while ((await received()) < goal) await delay(50);
      const made = of * DEVICES;
      const rate = made / ((performance.now() - began) / 1_000);
      return { rate, cpu: (1e6 * (application.cpu - used)) / made, peak: application.peakMemory };
    };
    await run(1_000);
    const measured = await run(messages);
    print(`| messages a second | processor time of each, us | peak of the server, MB |\n| --- | --- | --- |`);
    print(`| ${measured.rate.toFixed(0)} | ${measured.cpu.toFixed(0)} | ${measured.peak.toFixed(0)} |`);
    const many = await run(pending);
    print(`with ${pending} pending: ${many.rate.toFixed(0)} a second, peak ${many.peak.toFixed(0)} MB`);
    await admin.end();
  });
} finally {
  service.kill();
}
