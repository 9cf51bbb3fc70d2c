// `node test/bench/platform/push-room.bench.mjs`: one message in a room of many members, each with many devices: the time until all push
// messages have arrived, statements of each, processor time, the longest hold of the event loop and the memory of the server.
import { fork } from 'node:child_process';
import { createECDH, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
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
    members: { type: 'string', default: '1000' },
    devices: { type: 'string', default: '10' },
    messages: { type: 'string', default: '2' },
  },
});
const [members, devices, messages] = [options.members, options.devices, options.messages].map(Number);
/** Members that one request adds. */
const ADDED = 200;
/** Longer than the pause between two notifications of a busy room. */
const PAUSE_MS = 8_000;

const port = await freePort();
const service = fork(fileURLToPath(new URL('webhook-receiver.mjs', import.meta.url)), [`${port}`]);
const address = `http://127.0.0.1:${port}/`;
const received = async () => (await (await fetch(`${address}count`)).json()).count;

try {
  await withWorkspace('push-room', async ({ databaseUrl, directory, server }) => {
    const admin = new pg.Client(databaseUrl);
    // The database ends before this connection where the bench fails.
    admin.on('error', () => undefined);
    await admin.connect();
    const config = Config.parse({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn', DEMO: 'false' });
    const accounts = Array.from({ length: members + 1 }, (_, n) => ({
      email: `user-${n}@room.example`,
      name: `User ${n}`,
      role: n === 0 ? 'owner' : 'member',
    }));
    const { users } = await withApp(config, (app) =>
      provision(app, { tenants: [{ slug: 'room', users: accounts }] }, true),
    );
    const [sender, ...others] = users;
    await preventJobs(admin);
    const holdFile = path.join(directory, 'hold');
    const application = await server({
      ...WITHOUT_MAILBOXES,
      NODE_OPTIONS: `--import ${new URL('../support/loop-hold.mjs', import.meta.url).href}`,
      LOOP_HOLD: holdFile,
    });
    const call = async (route, body) => {
      const headers = { authorization: `Bearer ${sender.token}`, 'content-type': 'application/json' };
      const url = `http://127.0.0.1:${application.port}/apis/v1${route}`;
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return response.json();
    };
    const { room } = await call('/chat/rooms', { type: 'group', name: 'All', member_ids: [] });
    for (let n = 0; n < others.length; n += ADDED)
      await call(`/chat/rooms/${room.id}/members`, {
        user_ids: others.slice(n, n + ADDED).map(({ id }) => id),
      });
    const ecdh = createECDH('prime256v1');
    ecdh.generateKeys();
    await call('/notifications/push-subscriptions', {
      endpoint: `${address}own`,
      keys: { p256dh: ecdh.getPublicKey('base64url'), auth: randomBytes(16).toString('base64url') },
    });
    await admin.query('DELETE FROM notifications');
    await admin.query('DELETE FROM outbox');
    await admin.query(
      `INSERT INTO push_subscriptions (tenant_id, user_id, id, endpoint, endpoint_hash, service, p256dh, auth, key_id, description, can_dismiss)
       SELECT device.tenant_id, member.user_id, gen_random_uuid(), $1 || member.user_id || '/' || n,
              encode(sha256((member.user_id || '/' || n)::bytea), 'base64'), device.service, device.p256dh, device.auth, device.key_id, '', false
         FROM push_subscriptions device
         JOIN tenant_members member ON member.tenant_id = device.tenant_id AND member.user_id <> device.user_id
        CROSS JOIN generate_series(1, $2) AS n`,
      [address, devices],
    );
    await admin.query('ANALYZE');
    const trips = async () =>
      Number(/^database_round_trips_total\S* (\d+)/m.exec(await application.metrics())[1]);
    const expected = members * devices;
    print(
      `| push messages | seconds | statements of each | processor time of each, us | longest hold, ms | peak of the server, MB |\n| --- | --- | --- | --- | --- | --- |`,
    );
    for (let n = 0; n < messages; n += 1) {
      await delay(PAUSE_MS);
      const [before, statements] = [await received(), await trips()];
      application.forgetPeak();
      application.child.kill('SIGUSR2');
      const [began, used] = [performance.now(), application.cpu];
      await call(`/chat/rooms/${room.id}/messages`, { client_msg_id: randomUUID(), body: `Message ${n}` });
      // The job that notifies members of changed rooms is not prevented: it has no row.
      while ((await received()) - before < expected) await delay(100);
      const seconds = (performance.now() - began) / 1000;
      const hold = Number(readFileSync(holdFile, 'utf8'));
      const of = (total) => total / expected;
      print(
        `| ${[expected, seconds.toFixed(1), of((await trips()) - statements).toFixed(2), (1e6 * of(application.cpu - used)).toFixed(0), hold.toFixed(0), application.peakMemory.toFixed(0)].join(' | ')} |`,
      );
    }
    await admin.end();
  });
} finally {
  service.kill();
}
