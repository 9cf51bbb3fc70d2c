// A receiver of webhooks in a process of its own: reads each message, answers 204 and counts; with the argument `hang` it never answers.
// `GET /` returns the count and the last body, `GET /count` the count, `GET /latencies` the milliseconds from the events since the last
// such request to their arrival.
import { createServer } from 'node:http';

const [port, mode] = process.argv.slice(2);
let count = 0;
let last = '';
let latencies = [];

function answer(url) {
  if (url === '/count') return { count };
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
    if (mode === 'hang') return;
    if (mode === 'respond') latencies.push(Date.now() - Date.parse(JSON.parse(body).timestamp));
    response.writeHead(204).end();
  });
}).listen(Number(port), '127.0.0.1');
