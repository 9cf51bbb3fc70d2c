// A mail service with fixed responses and almost no cost, so that the bench measures the proxy.
import { randomBytes } from 'node:crypto';
import http from 'node:http';

export const PATHS = {
  '2 kB': '/users/me/mailboxes',
  '200 kB': `/users/me/mailboxes/${'a'.repeat(24)}/messages`,
  '20 MB': `/users/me/mailboxes/${'a'.repeat(24)}/messages/1/attachments/ATT00001`,
};

const rows = (bytes) =>
  JSON.stringify({
    success: true,
    results: Array.from({ length: Math.round(bytes / 200) }, (_, id) => ({ id, subject: 'x'.repeat(170) })),
  });
const JSON_TYPE = 'application/json; charset=utf-8';

const ANSWERS = new Map([
  ['/users', [JSON_TYPE, Buffer.from(JSON.stringify({ success: true, id: 'b'.repeat(24) }))]],
  [
    '/authenticate',
    [JSON_TYPE, Buffer.from(JSON.stringify({ success: true, id: 'b'.repeat(24), token: 'c'.repeat(40) }))],
  ],
  [PATHS['2 kB'], [JSON_TYPE, Buffer.from(rows(2_000))]],
  [PATHS['200 kB'], [JSON_TYPE, Buffer.from(rows(200_000))]],
  [PATHS['20 MB'], ['application/octet-stream', randomBytes(20_000_000)]],
]);

if (process.env.PORT) {
  http
    .createServer((request, response) => {
      const [type, body] = ANSWERS.get(request.url);
      request.resume();
      response.writeHead(200, { 'Content-Type': type, 'Content-Length': body.length }).end(body);
    })
    .listen(Number(process.env.PORT), '127.0.0.1');
}
