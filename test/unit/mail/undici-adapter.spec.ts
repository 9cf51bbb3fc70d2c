import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { jest } from '@jest/globals';
import { AxiosHeaders, type InternalAxiosRequestConfig } from 'axios';
import type { ResponseBody } from '../../../src/modules/mail/upstream/response-body.js';
import { UndiciAdapter } from '../../../src/modules/mail/upstream/undici-adapter.js';
import { fakeOnly } from '../../support/clock.ts';
import { until } from '../../support/until.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

describe('axios over undici', () => {
  let server: Server;
  let adapter: UndiciAdapter;
  let respond: Handler;
  let requests = 0;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    server = createServer((request, response) => {
      requests += 1;
      respond(request, response);
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

  const send = async (more: Partial<InternalAxiosRequestConfig> = {}) => {
    const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const headers = new AxiosHeaders({ 'X-Access-Token': 'secret' });
    const config = { baseURL, url: '/a?b=c', method: 'GET', headers, timeout: 300_000, ...more };
    const { status, headers: received, data } = await adapter.request(config);
    return { status, headers: received, body: data as ResponseBody };
  };

  test('sends requests below the base URL and returns responses', async () => {
    let seen: unknown[] = [];
    respond = async (request, response) => {
      const { method, url, headers } = request;
      const body = String(await buffer(request));
      seen = [method, url, headers['x-access-token'], headers['content-length'], body];
      response.writeHead(418, { 'X-Pot': 'tea' }).end('short');
    };
    const { port } = server.address() as AddressInfo;
    const base = { baseURL: `http://127.0.0.1:${port}/below/it`, method: 'PUT', data: Buffer.from('{}') };
    const { status, headers, body } = await send(base);
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
  ])('%i bytes: the requested beginning, then the whole', async (size, limit) => {
    const whole = Buffer.alloc(size, 'abcdefg');
    respond = (_, response) => response.end(whole);
    const { body } = await send();
    const { bytes, ended } = await body.beginning(limit);
    expect(ended).toBe(size <= limit);
    expect(bytes.equals(whole.subarray(0, bytes.length))).toBe(true);
    expect(bytes.length).toBeGreaterThanOrEqual(Math.min(size, limit));
    expect((await buffer(body.stream())).equals(whole)).toBe(true);
    expect(sockets.size).toBe(1);
  });

  describe('the idle timeout, on a clock of its own', () => {
    beforeEach(() => fakeOnly(['setTimeout', 'clearTimeout', 'performance']));
    afterEach(() => jest.useRealTimers());

    /** A response of which the test sends each part. `send` waits until the part has arrived. */
    const openResponse = async (timeout: number) => {
      let response!: ServerResponse;
      respond = (_, started) => (response = started).writeHead(200).flushHeaders();
      const { body } = await send({ timeout });
      const push = jest.spyOn(body, 'push');
      const arrived = () => push.mock.calls.reduce((size, [chunk]) => size + chunk.length, 0);
      return {
        body,
        async send(part: Buffer | string): Promise<void> {
          const expected = arrived() + part.length;
          response.write(part);
          await until('the arrival of a part', () => arrived() >= expected);
        },
        end: () => response.end(),
      };
    };

    test('an unread body is not fetched, and aborted after ten timeouts', async () => {
      let sent = 0;
      let connection: Socket | undefined;
      respond = (request, response) => {
        connection = request.socket;
        const more = () => {
          while (response.writable && response.write(Buffer.alloc(65_536))) sent += 65_536;
        };
        response.on('drain', more);
        more();
      };
      const { body } = await send({ timeout: 1_000 });
      const stream = body.stream();
      await until('the pause', () => stream.readableLength >= 65_536);
      await jest.advanceTimersByTimeAsync(9_000);
      expect(stream.destroyed).toBe(false);
      await until('the timeout', async () => {
        await jest.advanceTimersByTimeAsync(1_000);
        return stream.destroyed;
      });
      expect(stream.errored?.message).toBe('timeout');
      // The buffers of both sockets.
      expect(sent).toBeLessThan(32 * 1024 * 1024);
      await until('the end of the connection', () => connection?.destroyed);
    });

    test('a slow reader causes no timeout', async () => {
      const whole = Buffer.alloc(3_000_000, 'abcdefg');
      respond = (_, response) => response.end(whole);
      const { body } = await send({ timeout: 1_000 });
      const stream = body.stream();
      await until('the pause', () => stream.readableLength >= 65_536);
      await jest.advanceTimersByTimeAsync(2_500);
      expect((await buffer(stream)).equals(whole)).toBe(true);
    });

    test('it restarts when reading resumes', async () => {
      respond = (_, response) =>
        response.writeHead(200, { 'Content-Length': '3000000' }).write(Buffer.alloc(1_000_000));
      const { body } = await send({ timeout: 1_000 });
      const stream = body.stream();
      await until('the pause', () => stream.readableLength >= 65_536);
      await jest.advanceTimersByTimeAsync(2_500);
      let read = 0;
      stream.on('data', (chunk: Buffer) => (read += chunk.length));
      await until('the arrival of the first part', () => read === 1_000_000);
      await jest.advanceTimersByTimeAsync(999);
      expect(stream.destroyed).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      expect(stream.errored?.message).toBe('timeout');
    });

    test('each part of a slow body restarts it', async () => {
      const response = await openResponse(1_000);
      const whole = response.body.beginning(100);
      for (let n = 0; n < 6; n += 1) {
        await response.send('x');
        await jest.advanceTimersByTimeAsync(900);
      }
      response.end();
      expect(String((await whole).bytes)).toBe('xxxxxx');
    });

    test('a body that is read whole has ten timeouts in total', async () => {
      const response = await openResponse(1_000);
      let error: unknown;
      const whole = response.body.beginning(1_000_000).catch((reason: unknown) => (error = reason));
      for (let n = 0; n < 12; n += 1) {
        await response.send('x');
        await jest.advanceTimersByTimeAsync(890);
      }
      expect(error).toBeUndefined();
      // Beyond the limit a part restarts nothing.
      await response.send('x');
      await jest.advanceTimersByTimeAsync(110);
      expect(await whole).toMatchObject({ message: 'timeout' });
    });

    test('a body that is streamed has no limit in total', async () => {
      const response = await openResponse(1_000);
      const stream = response.body.stream();
      let read = 0;
      stream.on('data', (chunk: Buffer) => (read += chunk.length));
      for (let n = 0; n < 20; n += 1) {
        await response.send('x');
        await jest.advanceTimersByTimeAsync(900);
      }
      response.end();
      await once(stream, 'end');
      expect(read).toBe(20);
    });
  });

  test('a request cancelled before its start is not sent', async () => {
    respond = (_, response) => response.end('x');
    const before = AbortSignal.abort();
    await expect(send({ signal: before })).rejects.toMatchObject({ name: 'CanceledError' });
    const soon = new AbortController();
    const waiting = send({ signal: soon.signal });
    soon.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'CanceledError' });
    const { body } = await send();
    await body.beginning(10);
    expect(requests).toBe(1);
  });

  test('cancelling or discarding a response closes its connection', async () => {
    respond = (_, response) => response.writeHead(200).write('beginning');
    const controller = new AbortController();
    const cancelled = await send({ signal: controller.signal });
    const first = closed();
    controller.abort();
    await expect(cancelled.body.beginning(100)).rejects.toThrow('cancelled');
    await first;
    const unwanted = await send();
    const second = closed();
    unwanted.body.destroy();
    await second;
    const left = await send();
    const third = closed();
    left.body.stream().destroy();
    await third;
  });

  test.each([
    ['fewer bytes than announced', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort'],
    ['a missing last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n'],
    ['a chunk without a length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\nz\r\n'],
  ])('%s is an error', async (_, text) => {
    respond = ({ socket }) => socket.end(text);
    const { body } = await send();
    await expect(body.beginning(100)).rejects.toMatchObject({ isAxiosError: true });
    await expect(buffer(body.stream())).rejects.toMatchObject({ isAxiosError: true });
  });

  test('a closed idle connection is replaced', async () => {
    respond = (_, response) => response.end('x');
    await (await send()).body.beginning(10);
    for (const socket of sockets) socket.destroy();
    await expect(send().then(({ body }) => body.beginning(10))).resolves.toBeDefined();
  });

  test('shutdown aborts requests in flight', async () => {
    respond = () => undefined;
    const waiting = send();
    await once(server, 'request');
    await adapter.onApplicationShutdown();
    await expect(waiting).rejects.toMatchObject({ isAxiosError: true });
  });
});
