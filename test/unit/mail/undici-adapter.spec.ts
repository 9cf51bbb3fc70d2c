import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { AxiosHeaders, type InternalAxiosRequestConfig } from 'axios';
import type { ResponseBody } from '../../../src/modules/mail/upstream/response-body.js';
import { UndiciAdapter } from '../../../src/modules/mail/upstream/undici-adapter.js';
import { until } from '../../support/until.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

describe('axios over undici', () => {
  let server: Server;
  let adapter: UndiciAdapter;
  let answer: Handler;
  const handlers = new Map<string, Handler>();
  let requests = 0;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    server = createServer((request, response) => {
      requests += 1;
      (handlers.get(request.url ?? '') ?? answer)(request, response);
    });
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    requests = 0;
    adapter = new UndiciAdapter();
  });
  afterEach(() => adapter.onApplicationShutdown());
  afterAll(() => server.close());

  /** Closes all current connections. */
  const closed = () =>
    Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));

  const ask = async (more: Partial<InternalAxiosRequestConfig> = {}) => {
    const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const headers = new AxiosHeaders({ 'X-Access-Token': 'secret' });
    const config = { baseURL, url: '/a?b=c', method: 'GET', headers, timeout: 300_000, ...more };
    const { status, headers: told, data } = await adapter.request(config);
    return { status, headers: told, body: data as ResponseBody };
  };

  test('sends requests below the base URL and returns responses', async () => {
    let seen: unknown[] = [];
    answer = async (request, response) => {
      const { method, url, headers } = request;
      const body = String(await buffer(request));
      seen = [method, url, headers['x-access-token'], headers['content-length'], body];
      response.writeHead(418, { 'X-Pot': 'tea' }).end('short');
    };
    const { port } = server.address() as AddressInfo;
    const base = { baseURL: `http://127.0.0.1:${port}/below/it`, method: 'PUT', data: Buffer.from('{}') };
    const { status, headers, body } = await ask(base);
    expect([status, headers['x-pot'], String((await body.beginning(100)).bytes)]).toEqual([
      418,
      'tea',
      'short',
    ]);
    expect(seen).toEqual(['PUT', '/below/it/a?b=c', 'secret', '2', '{}']);
  });

  test.each([
    [1, 10],
    [64 * 1024, 100_000],
    [300_000, 100_000],
    [300_000, 300_000],
    [3_000_000, 1_000_000],
  ])('%i bytes: as much as is asked for first, then all of them', async (size, limit) => {
    const whole = Buffer.alloc(size, 'abcdefg');
    answer = (_, response) => response.end(whole);
    const { body } = await ask();
    const { bytes, ended } = await body.beginning(limit);
    expect(ended).toBe(size <= limit);
    expect(bytes.equals(whole.subarray(0, bytes.length))).toBe(true);
    expect(bytes.length).toBeGreaterThanOrEqual(Math.min(size, limit));
    expect((await buffer(body.stream())).equals(whole)).toBe(true);
    expect(sockets.size).toBe(1);
  });

  /** Each waits for a second or more, so they run at the same time, each on a path of its own. */
  const timed: Record<string, (path: string) => Promise<void>> = {
    'an unread body is not fetched, and aborted after a while': async (path) => {
      let sent = 0;
      let connection: Socket | undefined;
      handlers.set(path, (request, response) => {
        connection = request.socket;
        const more = () => {
          while (response.writable && response.write(Buffer.alloc(65_536))) sent += 65_536;
        };
        response.on('drain', more);
        more();
      });
      const { body } = await ask({ url: path, timeout: 1_000 });
      const stream = body.stream();
      await new Promise((resolve) => stream.once('close', resolve));
      expect(stream.errored?.message).toBe('timeout');
      // The buffers of both sockets.
      expect(sent).toBeLessThan(32 * 1024 * 1024);
      await until('the end of the connection', () => connection?.destroyed);
    },
    'a slow reader causes no timeout': async (path) => {
      const whole = Buffer.alloc(3_000_000, 'abcdefg');
      handlers.set(path, (_, response) => response.end(whole));
      const { body } = await ask({ url: path, timeout: 1_000 });
      const stream = body.stream();
      await once(stream, 'readable');
      await delay(2_500);
      expect((await buffer(stream)).equals(whole)).toBe(true);
    },
    'the idle timeout restarts when reading resumes': async (path) => {
      handlers.set(path, (_, response) =>
        response.writeHead(200, { 'Content-Length': '3000000' }).write(Buffer.alloc(1_000_000)),
      );
      const { body } = await ask({ url: path, timeout: 1_000 });
      const stream = body.stream();
      await once(stream, 'readable');
      await delay(2_500);
      await expect(buffer(stream)).rejects.toThrow('timeout');
    },
    'a slow body causes no timeout': async (path) => {
      handlers.set(path, async (_, response) => {
        for (let n = 0; n < 6; n += 1) {
          response.write('x');
          await delay(250);
        }
        response.end();
      });
      const { body } = await ask({ url: path, timeout: 1_000 });
      expect(String((await body.beginning(100)).bytes)).toBe('xxxxxx');
    },
    'a trickling body times out when read whole': async (path) => {
      handlers.set(path, trickle);
      const { body } = await ask({ url: path, timeout: 400 });
      await expect(body.beginning(1_000_000)).rejects.toThrow('timeout');
    },
    'a trickling body does not time out when streamed': async (path) => {
      handlers.set(path, trickle);
      const stream = (await ask({ url: path, timeout: 400 })).body.stream();
      let taken = 0;
      for await (const chunk of stream) {
        taken += (chunk as Buffer).length;
        // Longer than the limit of a response that is read whole.
        if (taken > 110) break;
      }
      expect(taken).toBeGreaterThan(60);
    },
  };
  const trickle: Handler = async (_, response) => {
    while (!response.destroyed) {
      response.write('x');
      await delay(40);
    }
  };

  test(`time limits: ${Object.keys(timed).join('; ')}`, async () => {
    const results = await Promise.allSettled(Object.values(timed).map((run, n) => run(`/timed/${n}`)));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  });

  test('a request cancelled before its start is not sent', async () => {
    answer = (_, response) => response.end('x');
    const before = AbortSignal.abort();
    await expect(ask({ signal: before })).rejects.toMatchObject({ name: 'CanceledError' });
    const soon = new AbortController();
    const waiting = ask({ signal: soon.signal });
    soon.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'CanceledError' });
    const { body } = await ask();
    await body.beginning(10);
    expect(requests).toBe(1);
  });

  test('cancelling or discarding a response closes its connection', async () => {
    answer = (_, response) => response.writeHead(200).write('beginning');
    const controller = new AbortController();
    const cancelled = await ask({ signal: controller.signal });
    const first = closed();
    controller.abort();
    await expect(cancelled.body.beginning(100)).rejects.toThrow('cancelled');
    await first;
    const unwanted = await ask();
    const second = closed();
    unwanted.body.destroy();
    await second;
    const left = await ask();
    const third = closed();
    left.body.stream().destroy();
    await third;
  });

  test.each([
    ['less than was said', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort'],
    ['no last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n'],
    ['a chunk of no length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\nz\r\n'],
  ])('%s is no end', async (_, text) => {
    answer = ({ socket }) => socket.end(text);
    const { body } = await ask();
    await expect(body.beginning(100)).rejects.toMatchObject({ isAxiosError: true });
    await expect(buffer(body.stream())).rejects.toMatchObject({ isAxiosError: true });
  });

  test('a closed idle connection is replaced', async () => {
    answer = (_, response) => response.end('x');
    await (await ask()).body.beginning(10);
    for (const socket of sockets) socket.destroy();
    await expect(ask().then(({ body }) => body.beginning(10))).resolves.toBeDefined();
  });

  test('shutdown aborts requests in flight', async () => {
    answer = () => undefined;
    const waiting = ask();
    await once(server, 'request');
    await adapter.onApplicationShutdown();
    await expect(waiting).rejects.toMatchObject({ isAxiosError: true });
  });
});
