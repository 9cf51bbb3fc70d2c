import type { ServerResponse } from 'node:http';

/** JSON that is already text, e.g. from PostgreSQL. */
export class SerializedJson {
  constructor(readonly text: string) {}
}

/**
 * Writes a JSON response in one call.
 * @param type media type; errors of the HTTP layer have no charset
 */
export function writeJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  type = 'application/json; charset=utf-8',
): void {
  const text = body instanceof SerializedJson ? body.text : JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}
