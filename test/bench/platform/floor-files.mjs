// The floor of files: a bare node:http server that streams a body to a file, made durable, and a file to a response.
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

const directory = process.env.DIRECTORY;
let count = 0;

async function serve(request, response) {
  if (request.method === 'POST') {
    const file = path.join(directory, String((count += 1)));
    await pipeline(request, createWriteStream(`${file}.part`, { flush: true }));
    await rename(`${file}.part`, file);
    response.writeHead(201, { 'Content-Length': 2 }).end('{}');
    return;
  }
  const file = path.join(directory, '1');
  response.writeHead(200, { 'Content-Length': (await stat(file)).size });
  await pipeline(createReadStream(file), response);
}

createServer((request, response) => void serve(request, response)).listen(
  Number(process.env.PORT),
  '127.0.0.1',
);
