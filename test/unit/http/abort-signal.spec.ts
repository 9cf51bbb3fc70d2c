import { once } from 'node:events';
import { createServer, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import {
  ClientDisconnect,
  ClientDisconnectedError,
  disconnectSignal,
} from '../../../src/platform/http/abort-signal.js';

describe('the signal of a client that disconnects', () => {
  const server = createServer();
  beforeAll(async () => void (await once(server.listen(0, '127.0.0.1'), 'listening')));
  afterAll(() => server.close());

  /** A request without a response yet, and a way to disconnect its client. */
  async function receive(): Promise<{ response: Response; disconnect: () => Promise<unknown> }> {
    const { port } = server.address() as AddressInfo;
    const client = httpRequest({ host: '127.0.0.1', port }).on('error', () => undefined);
    client.end();
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    const disconnect = () => {
      const closed = once(response, 'close');
      client.destroy();
      return closed;
    };
    return { response: response as unknown as Response, disconnect };
  }

  test.each([
    ['AbortSignal', disconnectSignal],
    ['ClientDisconnect', (response: Response) => new ClientDisconnect(response)],
  ])('%s: aborts on the disconnection, also where it came before the signal', async (_, signalOf) => {
    const { response, disconnect } = await receive();
    const early = signalOf(response);
    expect(early.aborted).toBe(false);
    await disconnect();
    for (const signal of [early, signalOf(response)])
      expect([signal.aborted, signal.reason]).toEqual([true, expect.any(ClientDisconnectedError)]);
  });

  test('stays silent after a complete response', async () => {
    const { response } = await receive();
    const closed = once(response, 'close');
    const early = disconnectSignal(response);
    response.end('done');
    await closed;
    for (const signal of [early, disconnectSignal(response)]) expect(signal.aborted).toBe(false);
  });
});
