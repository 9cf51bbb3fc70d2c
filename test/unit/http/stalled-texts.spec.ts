import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { writeTexts } from '../../../src/platform/http/replies/reply-writer.js';

describe('texts for a client that does not read', () => {
  /** Sends a request and does not read the response. @param act writes the response */
  const requested = async (act: (response: ServerResponse) => Promise<void>): Promise<void> => {
    const done = Promise.withResolvers<void>();
    const server = createServer((_request, response) => void act(response).then(done.resolve, done.reject));
    await once(server.listen(0), 'listening');
    const client = connect((server.address() as AddressInfo).port).pause();
    client.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await done.promise.finally(() => {
      client.destroy();
      server.close();
    });
  };
  const write = (response: ServerResponse, texts: AsyncIterable<string>) =>
    writeTexts(response as never, texts, { contentType: 'text/plain' });

  test('the source ends when the client makes no progress', async () => {
    let isEnded = false;
    async function* endless(): AsyncGenerator<string> {
      try {
        for (;;) yield 'x'.repeat(1024 * 1024);
      } finally {
        isEnded = true;
      }
    }
    await requested(async (response) => {
      const set = response.setTimeout.bind(response);
      response.setTimeout = (_ms, act) => set(20, act);
      await write(response, endless());
      expect([isEnded, response.destroyed]).toEqual([true, true]);
    });
  });

  test('a source without texts for some time is waited for', async () => {
    await requested(async (response) => {
      async function* slow(): AsyncGenerator<string> {
        yield 'a';
        while (response.writableLength > 0) await new Promise(setImmediate);
        response.emit('timeout');
        yield 'b';
      }
      await write(response, slow());
      expect([response.destroyed, response.writableEnded]).toEqual([false, true]);
    });
  });
});
