import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Request, type Response } from 'express';
import { JsonReply } from './json-reply.js';
import { JSON_HEADERS } from './security-headers.js';

const FIXED_HEADERS: readonly string[] = JSON_HEADERS.flat();

/**
 * Express without what a JSON interface has no use for (automatic ETags, X-Powered-By, nested query strings), and
 * answers written in one call with headers built beforehand. Routing is strict and case-sensitive.
 */
export class LeanExpressAdapter extends ExpressAdapter {
  constructor() {
    const app = express();
    app.disable('x-powered-by');
    app.set('etag', false);
    app.set('query parser', 'simple');
    app.set('strict routing', true);
    app.set('case sensitive routing', true);
    super(app);
  }

  override reply(response: Response, body: unknown, status?: number): unknown {
    if (body instanceof JsonReply) {
      return writeJson(response, body.options.status ?? status ?? 200, body.json, body.options);
    }
    if (body === undefined || body === null || typeof body !== 'object' || 'getStream' in body) {
      return super.reply(response, body, status);
    }
    return writeJson(response, status ?? response.statusCode, JSON.stringify(body));
  }
}

/** Writes a JSON answer, with the security headers. */
export function writeJson(
  response: Response,
  status: number,
  json: string,
  extra: { etag?: string; location?: string; headers?: Record<string, string> } = {},
): void {
  const headers = FIXED_HEADERS.slice();
  headers.push('Content-Length', String(Buffer.byteLength(json)));
  const requestId = (response.req as Request & { id?: string }).id;
  if (requestId) headers.push('X-Request-Id', requestId);
  if (extra.etag) headers.push('ETag', extra.etag);
  if (extra.location) headers.push('Location', extra.location);
  if (extra.headers) headers.push(...Object.entries(extra.headers).flat());
  response.writeHead(status, headers);
  response.end(json);
}
