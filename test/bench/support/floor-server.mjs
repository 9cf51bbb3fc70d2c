// The bare HTTP server of the floors: reads the body, calls a function, writes JSON.
import http from 'node:http';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';

/** A bare pool of the same size as the application's. */
export const floorPool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_POOL_MAX),
});

/** Named statements over the pool. */
export const floorDatabase = () => ({
  query: async ({ name, text }, values) => (await floorPool.query({ name, text, values })).rows,
});

/** Serves on PORT until SIGTERM. @param route receives the request and the text of its body, returns `{ status, json }`, or `{ status, body }` with a stream */
export function serveFloor(route) {
  const server = http.createServer((request, response) => void serve(route, request, response));
  server.keepAliveTimeout = 65_000;
  server.listen(Number(process.env.PORT), '127.0.0.1');
  process.once('SIGTERM', () => process.exit(0));
}

async function serve(route, request, response) {
  try {
    let body = '';
    if (request.method !== 'GET') {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      body = Buffer.concat(chunks).toString();
    }
    const { status, json, body: stream } = await route(request, body);
    if (stream) {
      response.writeHead(status);
      await pipeline(stream, response);
      return;
    }
    response.writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(json),
    });
    response.end(json);
  } catch (error) {
    console.error(error);
    response.writeHead(500, { 'Content-Length': 0 }).end();
  }
}
