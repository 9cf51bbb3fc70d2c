import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { RequestHandler, Response } from 'express';
import { API_PREFIX, type Config } from '../config/config.js';
import { Errors } from '../platform/http/errors.js';
import { exampleHeaders, JSON_HEADERS } from '../platform/http/security-headers.js';

/** The ETag of a text that clients revalidate. */
export const etagOf = (text: string): string => `"${createHash('sha256').update(text).digest('base64url')}"`;

/** Path of the example page, a client of offline sync (examples/notes-web). */
export const EXAMPLE_PATH = `/${API_PREFIX}/docs/example`;

const OFF =
  'The example is served with the demo workspace and the built-in sign-in only: set DEMO=true, and no OIDC_ISSUER.';

interface File {
  name: string;
  type: string;
}

/** The files by their paths below the page. */
const FILES: Readonly<Record<string, File>> = {
  '/': { name: 'notes-web.html', type: 'text/html' },
  '/notes-web.css': { name: 'notes-web.css', type: 'text/css' },
  '/notes-web.js': { name: 'notes-web.js', type: 'text/javascript' },
  '/notes-web-worker.js': { name: 'notes-web-worker.js', type: 'text/javascript' },
};

/** Whether the demo workspace exists and its users can sign in here. */
export const hasExample = (config: Config): boolean => config.demo && config.signInIssuer !== null;

/** Serves the example page. The first request of a file reads it, so that starts do not wait for it. */
export function serveExample(app: NestExpressApplication, config: Config): void {
  app.use(EXAMPLE_PATH, hasExample(config) ? [exampleHeaders, sendFile()] : [rejectAll]);
}

function sendFile(): RequestHandler {
  const texts = new Map<string, { text: string; etag: string }>();
  const read = (name: string) => {
    const text = readFileSync(new URL(`../../public/${name}`, import.meta.url), 'utf8');
    return { text, etag: etagOf(text) };
  };
  return (request, response) => {
    const file =
      request.originalUrl.split('?', 1)[0] === `${EXAMPLE_PATH}/` ? undefined : FILES[request.path];
    if (!file || !['GET', 'HEAD'].includes(request.method))
      return sendNotFound(response, Errors.notFound.message);
    const { text, etag } = texts.get(file.name) ?? read(file.name);
    texts.set(file.name, { text, etag });
    response.setHeader('Content-Type', `${file.type}; charset=utf-8`);
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('ETag', etag);
    // The worker is below the page that it serves.
    if (file.name === 'notes-web-worker.js') response.setHeader('Service-Worker-Allowed', EXAMPLE_PATH);
    if (request.fresh) response.status(304).end();
    else response.end(text);
  };
}

const rejectAll: RequestHandler = (_request, response) => sendNotFound(response, OFF);

function sendNotFound(response: Response, message: string): void {
  const { status, code } = Errors.notFound;
  for (const [name, value] of JSON_HEADERS) response.setHeader(name, value);
  response.status(status).end(JSON.stringify({ error: code, message }));
}
