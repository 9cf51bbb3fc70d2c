// A receiver of webhooks in a process of its own: reads each message, answers 204 and counts. `GET` returns the count and the last body.
import { createServer } from 'node:http';

let count = 0;
let last = '';
createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text) => (body += text));
  request.on('end', () => {
    if (request.method === 'GET') return response.end(JSON.stringify({ count, last }));
    count += 1;
    last = body;
    response.writeHead(204).end();
  });
}).listen(Number(process.argv[2]), '127.0.0.1');
