import type { ServerResponse } from 'node:http';

/** JSON text that is ready, e.g. made by PostgreSQL. */
export class ReadyJson {
  constructor(readonly text: string) {}
}

/**
 * Writes a JSON answer in one call.
 * @param type errors of the HTTP layer have one without charset
 */
export function writeJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  type = 'application/json; charset=utf-8',
): void {
  const text = body instanceof ReadyJson ? body.text : JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}
