import { fork } from 'node:child_process';
import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request, Pool } from 'undici';
import http from 'node:http';
import { OutboundHttp } from '../../../dist/platform/outbound/outbound-http.js';
import { freePort, cpuOf } from '../support/processes.mjs';
const port = await freePort();
const receiver = fork(new URL('webhook-receiver.mjs', import.meta.url).pathname, [`${port}`]);
await delay(500);
const body = JSON.stringify({ type: 'task.created', x: 'y'.repeat(1600) });
const key = createSecretKey(randomBytes(32));
const outbound = new OutboundHttp({ publicUrl: 'http://localhost:3000' });
const headersOf = () => {
  const id = randomUUID(),
    ts = String(Math.floor(Date.now() / 1000));
  return {
    'content-type': 'application/json',
    'user-agent': 'Workspace-Webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': ts,
    'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${ts}.${body}`).digest('base64')}`,
  };
};
const dispatcher = new Agent();
const url = `http://127.0.0.1:${port}/`;
const ag = new http.Agent({ keepAlive: true });
const kinds = {
  bare: async () => {
    const r = await request(url, { method: 'POST', body, dispatcher });
    await r.body.dump();
  },
  bareSigned: async () => {
    const r = await request(url, { method: 'POST', body, dispatcher, headers: headersOf() });
    await r.body.dump();
  },
  outbound: () =>
    outbound.request(url, {
      method: 'POST',
      headers: headersOf(),
      body,
      timeoutMs: 10000,
      maxBytes: 65536,
      longer: 'cut',
    }),
  outboundBuffer: () =>
    outbound.request(url, {
      method: 'POST',
      headers: headersOf(),
      body: Buffer.from(body),
      timeoutMs: 10000,
      maxBytes: 65536,
      longer: 'cut',
    }),
};
for (let r = 0; r < 3; r++)
  for (const [name, f] of Object.entries(kinds)) {
    let left = 20000;
    const c = process.cpuUsage(),
      rc = cpuOf(receiver.pid),
      t = performance.now();
    await Promise.all(
      Array.from({ length: Number(process.argv[2] ?? 32) }, async () => {
        while (left-- > 0) await f();
      }),
    );
    const u = process.cpuUsage(c);
    console.log(
      name.padEnd(15),
      ((u.user + u.system) / 20000).toFixed(1),
      'sys',
      (u.system / 20000).toFixed(1),
      'recv',
      ((1e6 * (cpuOf(receiver.pid) - rc)) / 20000).toFixed(1),
      'rate',
      ((20000 / (performance.now() - t)) * 1000).toFixed(0),
    );
  }
receiver.kill();
await dispatcher.close();
await outbound.onApplicationShutdown();
