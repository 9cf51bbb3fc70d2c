import { once } from 'node:events';
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ClientDisconnectedError } from '../../../src/platform/http/abort-signal.js';
import { BodyGuard } from '../../../src/platform/http/body/body.guard.js';
import { BodyLimit } from '../../../src/platform/http/body/body-limits.js';

describe('the guard that reads bodies', () => {
  const server = createServer();
  const guard = new BodyGuard(new Reflector());
  const handler = (): void => undefined;
  BodyLimit(16 * 1024 * 1024)(handler);

  beforeAll(async () => void (await once(server.listen(0, '127.0.0.1'), 'listening')));
  afterAll(() => server.close());

  /** A request of unknown length, which may become large, and its client. */
  async function receive() {
    const { port } = server.address() as AddressInfo;
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const client = httpRequest({ host: '127.0.0.1', port, method: 'POST', headers });
    client.on('error', () => undefined);
    client.flushHeaders();
    const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    Object.assign(request, { ctx: { userId: 'alice' } });
    const http = { getRequest: () => request, getResponse: () => response };
    const context = { switchToHttp: () => http, getHandler: () => handler } as unknown as ExecutionContext;
    return { client, request: request as IncomingMessage & { body?: unknown }, response, context };
  }

  test('clients that disconnected before it leave room for large bodies', async () => {
    for (let n = 0; n < 3; n += 1) {
      const { client, response, context } = await receive();
      const closed = once(response, 'close');
      client.destroy();
      await closed;
      await expect((async () => guard.canActivate(context))()).rejects.toThrow(ClientDisconnectedError);
    }
    const { client, request, response, context } = await receive();
    client.end('{"title":"a"}');
    expect(await guard.canActivate(context)).toBe(true);
    expect(request.body).toEqual({ title: 'a' });
    response.end();
  });
});
