// The bare HTTP server of the floors: reads the body, calls a function, writes JSON.
import http from 'node:http';
import pg from 'pg';

/** Named statements over a bare pool of the same size as the application's. */
export function floorDatabase() {
  const pool = new pg.Pool({
    connectionString: process.env.DATABASE_URL,
    max: Number(process.env.DATABASE_POOL_MAX),
  });
  return { query: async ({ name, text }, values) => (await pool.query({ name, text, values })).rows };
}

/** Serves on PORT until SIGTERM. @param route receives the request and the text of its body, returns `{ status, json }` */
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
    const { status, json } = await route(request, body);
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
