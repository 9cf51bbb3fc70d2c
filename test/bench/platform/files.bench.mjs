/**
 * `npm run build`, then `node test/bench/platform/files.bench.mjs`: attachments of 20 MiB, up and down, one and eight at once, against
 * a bare node:http server that streams the same bytes to a file; and by how much the server's memory grows meanwhile.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startScript } from '../support/processes.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const ROUNDS = Number(values.rounds);
const SIZE = 20 * 1024 * 1024 - 1024;
/** As long as those of browsers: the parser is faster with a longer boundary. */
const BOUNDARY = '----WebKitFormBoundary7MA4YWxkTrZu0gW';
const BYTES = Buffer.alloc(SIZE, 'All work and no play makes Jack a dull boy. ');
/** The bar: memory may grow by so many MB during eight transfers at once. */
const BAR_MB = 30;

await withWorkspace('files', async ({ directory, owner, server, stopAtEnd }) => {
  const floorDirectory = path.join(directory, 'floor');
  mkdirSync(floorDirectory);
  const targets = [await application(owner.token, await server()), await floor(floorDirectory)];
  stopAtEnd(targets[1].listener);
  for (const connections of [1, 8])
    for (const direction of ['upload', 'download']) await compare(direction, connections, targets);
});

/** The application, with a task that takes a file and one that has one. */
async function application(token, listener) {
  const base = `http://127.0.0.1:${listener.port}/apis/v1/tasks`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const task = async () => {
    const response = await fetch(base, { method: 'POST', headers, body: '{"title":"Files"}' });
    return (await response.json()).task.id;
  };
  const target = {
    listener,
    head: `Host: bench\r\nAuthorization: Bearer ${token}\r\n`,
    /** A task takes fifty files: each round has one of its own. */
    async prepare() {
      target.upload = `/apis/v1/tasks/${await task()}/attachments`;
    },
  };
  await target.prepare();
  const { body } = await exchange(target, uploadOf(target), true);
  target.download = JSON.parse(body).attachment.url;
  return target;
}

async function floor(directory) {
  const listener = await startScript('the floor', new URL('floor-files.mjs', import.meta.url), {
    DIRECTORY: directory,
  });
  const target = {
    listener,
    head: 'Host: bench\r\n',
    upload: '/',
    download: '/',
    prepare: async () => undefined,
  };
  await exchange(target, uploadOf(target));
  return target;
}

function uploadOf({ head, upload }) {
  const start = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const end = `\r\n--${BOUNDARY}--\r\n`;
  const length = start.length + SIZE + end.length;
  const headers = `${head}Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${length}\r\n`;
  return [
    Buffer.from(`POST ${upload} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n${start}`),
    BYTES,
    Buffer.from(end),
  ];
}

function downloadOf({ head, download }) {
  return [Buffer.from(`GET ${download} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`)];
}

/** One request on a connection of its own. Reads and drops the response, so that the generator takes little of the machine. */
async function exchange({ listener }, request, keep = false) {
  const socket = net.connect({ port: listener.port, host: '127.0.0.1', noDelay: true });
  const chunks = [];
  let size = 0;
  socket.on('data', (chunk) => {
    size += chunk.length;
    if (keep || chunks.length === 0) chunks.push(chunk);
  });
  for (const piece of request) socket.write(piece);
  await once(socket, 'close');
  const text = Buffer.concat(chunks).toString('latin1');
  if (!/^HTTP\/1\.1 20[01] /.test(text)) throw new Error(`unexpected response: ${text.slice(0, 500)}`);
  return { size, body: text.slice(text.indexOf('\r\n\r\n') + 4) };
}

/** Server, floor, floor, server: the drift of a busy machine cancels out. */
async function compare(direction, connections, [server, floor]) {
  const legs = new Map([server, floor].map((target) => [target, { seconds: 0, cpu: 0, growth: 0 }]));
  for (const target of [server, floor, floor, server]) {
    const { listener } = target;
    await target.prepare();
    listener.forgetPeak();
    const before = { memory: listener.peakMemory, cpu: listener.cpu, time: performance.now() };
    for (let n = 0; n < ROUNDS; n += 1) {
      await Promise.all(
        Array.from({ length: connections }, async () => {
          const { size } = await exchange(
            target,
            direction === 'upload' ? uploadOf(target) : downloadOf(target),
          );
          if (direction === 'download' && size < SIZE) throw new Error(`received ${size} bytes`);
        }),
      );
    }
    const leg = legs.get(target);
    leg.seconds += (performance.now() - before.time) / 1000;
    leg.cpu += listener.cpu - before.cpu;
    leg.growth = Math.max(leg.growth, listener.peakMemory - before.memory);
  }
  const [ours, theirs] = [legs.get(server), legs.get(floor)];
  const share = (part) => `${((100 * theirs[part]) / ours[part]).toFixed(0)} %`;
  const growth = `${ours.growth.toFixed(0)} MB (floor ${theirs.growth.toFixed(0)})`;
  print(
    `${direction.padEnd(9)} ${connections} at once: ${share('seconds')} of the floor, processor time ${share('cpu')}; memory +${growth}`,
  );
  if (connections === 8)
    print(`${ours.growth < BAR_MB ? 'met   ' : 'MISSED'}  grows by less than ${BAR_MB} MB`);
}
