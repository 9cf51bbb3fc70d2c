import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createHttpServer } from '../../../src/platform/http/server/client-error.js';

describe('malformed HTTP', () => {
  const server = createHttpServer((_request, response) => {
    response.writeHead(200, { 'Content-Length': '10' });
    response.write('first');
  });
  beforeAll(async () => void (await once(server.listen(0, '127.0.0.1'), 'listening')));
  afterAll(() => server.close());

  const open = () => connect((server.address() as AddressInfo).port, '127.0.0.1');

  test('gets an error', async () => {
    const socket = open();
    socket.write('MALFORMED\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n.*"error":"bad_request"/s);
  });

  test('behind a request in flight breaks its response, and adds nothing to it', async () => {
    const socket = open();
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [beginning] = (await once(socket, 'data')) as [Buffer];
    expect(beginning.toString()).toContain('200 OK');
    socket.write('MALFORMED\r\n\r\n');
    const rest = await text(socket).catch(() => '');
    expect(`${beginning.toString()}${rest}`).toMatch(/\r\n\r\n(?:first)?$/);
  });
});
