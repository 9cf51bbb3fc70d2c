// A receiver of webhooks in a process of its own: reads each message, answers 204 and counts. `GET /` returns the count and the last body,
// `GET /count` the count, `GET /latencies` the milliseconds from the events since the last such request to their arrival. After `GET /hang`
// it does not answer messages, until `GET /respond`.
import { createServer } from 'node:http';

const [port, isTimed] = process.argv.slice(2);
let count = 0;
let last = '';
let latencies = [];
let waiting;

function answer(url) {
  if (url === '/count') return { count };
  if (url === '/hang') return { waiting: (waiting ??= []).length };
  if (url === '/respond') {
    for (const response of waiting ?? []) response.writeHead(204).end();
    waiting = undefined;
    return {};
  }
  if (url !== '/latencies') return { count, last };
  const times = latencies;
  latencies = [];
  return times;
}

createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text) => (body += text));
  request.on('end', () => {
    if (request.method === 'GET') return response.end(JSON.stringify(answer(request.url)));
    count += 1;
    last = body;
    if (waiting) return waiting.push(response);
    if (isTimed) latencies.push(Date.now() - Date.parse(JSON.parse(body).timestamp));
    response.writeHead(204).end();
  });
}).listen(Number(port), '127.0.0.1');
