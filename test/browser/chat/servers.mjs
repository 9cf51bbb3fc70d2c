// The two servers of the chat page: its files, and a load balancer for each user.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import net from 'node:net';
import { once } from 'node:events';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');
const FILES = {
  '/': ['text/html', () => read('test/browser/chat/chat.html')],
  '/example-client.js': [
    'text/javascript',
    () => stripTypeScriptTypes(read('test/realtime/example-client.ts')),
  ],
  '/socket.io.js': ['text/javascript', () => read('node_modules/socket.io-client/dist/socket.io.esm.min.js')],
};

const read = (file) => readFileSync(path.join(ROOT, file), 'utf8');

/** Serves the page and its scripts. @returns the server */
export async function servePage() {
  const server = createServer((request, response) => {
    const [type, content] = FILES[request.url] ?? [];
    if (!type) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(content());
  });
  return listening(server);
}

/** Forwards each connection to the first port that accepts it. @returns the server */
export async function balance(ports) {
  return listening(net.createServer((client) => void forward(client, ports)));
}

async function forward(client, ports) {
  client.on('error', () => client.destroy());
  for (const port of ports) {
    const upstream = net.connect({ port, host: '127.0.0.1' });
    const isOpen = await once(upstream, 'connect').then(
      () => true,
      () => false,
    );
    if (!isOpen) continue;
    const pairs = [
      [client, upstream],
      [upstream, client],
    ];
    for (const [from, to] of pairs) {
      from.pipe(to);
      from.on('error', () => to.destroy()).on('close', () => to.destroy());
    }
    return;
  }
  client.destroy();
}

export const originOf = (server) => `http://127.0.0.1:${server.address().port}`;

async function listening(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
