// One device of `sync.bench.mjs`: a first synchronisation into an empty store, and edits without a connection that are sent afterwards.
import { readFileSync, writeFileSync } from 'node:fs';

const order = JSON.parse(process.argv[2]);
const { openDevice } = await import(`./devices/${order.side.kind}.mjs`);

const send = globalThis.fetch;

/** The network of the device, which counts. */
const network = {
  isOnline: true,
  requests: 0,
  bytes: 0,
  async fetch(...request) {
    if (!network.isOnline) throw new TypeError('The device has no connection.');
    network.requests += 1;
    const response = await send(...request);
    const counted = new TransformStream({
      transform(piece, controller) {
        network.bytes += piece.byteLength;
        controller.enqueue(piece);
      },
    });
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
  },
};

const status = (name) =>
  Number(new RegExp(`${name}:\\s*(\\d+)`).exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;

/** @returns the time, the processor time, the memory and the requests of a step */
async function measured(step) {
  globalThis.gc();
  writeFileSync('/proc/self/clear_refs', '5');
  const before = { memory: status('VmRSS'), requests: network.requests, bytes: network.bytes };
  const cpu = process.cpuUsage();
  const began = performance.now();
  await step();
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  return {
    ms,
    cpu: (user + system) / 1_000,
    grown: status('VmHWM') - before.memory,
    requests: network.requests - before.requests,
    bytes: network.bytes - before.bytes,
  };
}

const device = await openDevice(order, network);
const figures = { first: await measured(() => device.first()) };
const found = await device.count();
if (found !== order.count) throw new Error(`The device has ${found} notes instead of ${order.count}.`);
if (order.edits > 0) {
  await device.prepare?.();
  network.isOnline = false;
  figures.saved = await measured(() => device.edit(order.edits, `Edited ${order.mark}`));
  network.isOnline = true;
  figures.pushed = await measured(() => device.push());
}
await device.close();
process.stdout.write(`${JSON.stringify(figures)}\n`);
process.exit(0);
