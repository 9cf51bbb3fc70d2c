import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { exchange } from '../../../src/platform/outbound/outbound-http.js';

const LIMITS = { timeoutMs: 20_000, maxBytes: 1_000, longer: 'reject' } as const;

describe('one exchange with another server', () => {
  const agent = new Agent({ connections: 1 });
  let server: Server;
  let url: URL;
  let respond: (response: ServerResponse) => void;

  beforeAll(async () => {
    server = createServer((request, response) => void request.resume().on('end', () => respond(response)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/path?query=1`);
  });
  afterAll(async () => {
    await agent.destroy();
    server.closeAllConnections();
    server.close();
  });

  test('has the status, the headers and the body', async () => {
    respond = (response) => response.writeHead(201, { 'x-kind': 'a' }).end('text');
    const { status, headers, body } = await exchange(agent, url, { ...LIMITS, method: 'POST', body: 'x' });
    expect([status, headers['x-kind'], body.toString()]).toEqual([201, 'a', 'text']);
  });

  test('rejects or cuts a longer response, and ends the connection', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    respond = (response) => {
      closed = once(response, 'close');
      response.write('x'.repeat(5_000));
    };
    await expect(exchange(agent, url, LIMITS)).rejects.toMatchObject({ problem: 'too_large' });
    await closed;
    const { body } = await exchange(agent, url, { ...LIMITS, longer: 'cut' });
    expect(body.toString()).toBe('x'.repeat(1_000));
    await closed;
  });

  test('ends after its time, also when the response has begun', async () => {
    respond = (response) => void response.writeHead(200).write('begun');
    const limits = { ...LIMITS, timeoutMs: 50 };
    await expect(exchange(agent, url, limits)).rejects.toMatchObject({ problem: 'timeout' });
  });

  test('ends by its signal: in flight, while it waits for the connection, and before', async () => {
    let arrived = (): void => undefined;
    const isInFlight = new Promise<void>((resolve) => (arrived = resolve));
    respond = () => arrived();
    const [flying, waiting] = [new AbortController(), new AbortController()];
    const first = exchange(agent, url, { ...LIMITS, signal: flying.signal });
    await isInFlight;
    const second = exchange(agent, url, { ...LIMITS, signal: waiting.signal });
    waiting.abort();
    await expect(second).rejects.toMatchObject({ problem: 'aborted' });
    flying.abort();
    await expect(first).rejects.toMatchObject({ problem: 'aborted' });
    await expect(exchange(agent, url, { ...LIMITS, signal: flying.signal })).rejects.toMatchObject({
      problem: 'aborted',
    });
    // The connection of the pool is usable again.
    respond = (response) => response.end('later');
    expect((await exchange(agent, url, LIMITS)).body.toString()).toBe('later');
  });
});
