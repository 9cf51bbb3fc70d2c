import { pipeline } from 'node:stream';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Request, type Response, type Router } from 'express';
import { passedOn } from '../memory/garbage.js';
import { ContentReply } from './content-reply.js';
import { writeContent } from './content-writer.js';
import { FileReply } from './file-reply.js';
import { ImageReply } from './image-reply.js';
import { JsonReply } from './json-reply.js';
import { RouteRooms } from './route-rooms.js';
import { JSON_HEADERS } from './security-headers.js';
import { StreamReply } from './stream-reply.js';

const FIXED_HEADERS: readonly string[] = JSON_HEADERS.flat();
const LARGE = 16 * 1024;
/** The same for a file, whose type stands apart. */
const FILE_HEADERS: readonly string[] = JSON_HEADERS.filter(([name]) => name !== 'Content-Type').flat();

/** And for a picture, which clients may keep if they ask each time whether it is still good. */
const IMAGE_HEADERS: readonly string[] = JSON_HEADERS.filter(([name]) => name !== 'Content-Type').flatMap(
  ([name, value]) => [name, name === 'Cache-Control' ? 'private, no-cache' : value],
);

/**
 * Express without what a JSON interface has no use for (automatic ETags, X-Powered-By, nested query strings), and
 * answers written in one call with headers built beforehand. Routing is strict and case-sensitive.
 */
export class LeanExpressAdapter extends ExpressAdapter {
  private readonly rooms = new RouteRooms(this.instance);

  constructor() {
    const app = express();
    app.disable('x-powered-by');
    app.set('etag', false);
    app.set('query parser', 'simple');
    app.set('strict routing', true);
    app.set('case sensitive routing', true);
    super(app);
  }

  // What Nest registers the handlers of controllers with. (Those for all methods, and OPTIONS, stay with Express.)
  override delete = this.rooms.registrar('delete');
  override get = this.rooms.registrar('get');
  override head = this.rooms.registrar('head');
  override patch = this.rooms.registrar('patch');
  override post = this.rooms.registrar('post');
  override put = this.rooms.registrar('put');

  /** Where the routes are, beside those that Express itself keeps. */
  get routers(): Router[] {
    return this.rooms.routers;
  }

  override reply(response: Response, body: unknown, status?: number): unknown {
    if (body instanceof JsonReply) {
      return writeJson(response, body.options.status ?? status ?? 200, body.json, body.options);
    }
    if (body instanceof FileReply) return writeFile(response, body);
    if (body instanceof ImageReply) return writeImage(response, body);
    if (body instanceof ContentReply) return writeContent(response, body);
    if (body instanceof StreamReply) return writeStream(response, body);
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
  json: string | Buffer,
  extra: { etag?: string; location?: string; headers?: Record<string, string> } = {},
): void {
  const headers = FIXED_HEADERS.slice();
  headers.push('Content-Length', String(typeof json === 'string' ? Buffer.byteLength(json) : json.length));
  pushRequestId(headers, response);
  if (extra.etag) headers.push('ETag', extra.etag);
  if (extra.location) headers.push('Location', extra.location);
  if (extra.headers) headers.push(...Object.entries(extra.headers).flat());
  response.writeHead(status, headers);
  response.end(json);
  // What came from the database, and what is made of it. Small ones are not worth the counting.
  if (json.length > LARGE) passedOn(2 * json.length);
}

/** Writes a file, with the security headers; the headers alone where there are no bytes (HEAD). */
function writeFile(response: Response, file: FileReply): void {
  const headers = FILE_HEADERS.slice();
  headers.push('Content-Type', file.contentType, 'Content-Disposition', file.disposition);
  // How long the file would be is not known without making it, and RFC 9110 lets a HEAD leave it out.
  if (file.bytes) headers.push('Content-Length', String(file.bytes.length));
  pushRequestId(headers, response);
  response.writeHead(200, headers);
  response.end(file.bytes ?? undefined);
}

/** Writes a picture to be shown, or says that the client's copy is still good. */
function writeImage(response: Response, { bytes, contentType, etag, extension }: ImageReply): void {
  const headers = IMAGE_HEADERS.slice();
  headers.push('ETag', etag);
  pushRequestId(headers, response);
  if (bytes) {
    headers.push('Content-Type', contentType, 'Content-Length', String(bytes.length));
    headers.push('Content-Disposition', `inline; filename="image.${extension}"`);
  }
  response.writeHead(bytes ? 200 : 304, headers);
  response.end(bytes ?? undefined);
}

/** Passes a stream on, with the security headers. Both ends break together. */
function writeStream(response: Response, { body, options }: StreamReply): void {
  const own = Object.entries(options.headers ?? {});
  const replaced = new Set(own.map(([name]) => name.toLowerCase()));
  const fixed = JSON_HEADERS.filter(([name]) => name !== 'Content-Type' && !replaced.has(name.toLowerCase()));
  const headers = [...fixed, ...own].flat();
  headers.push('Content-Type', options.contentType);
  if (options.length !== undefined) headers.push('Content-Length', String(options.length));
  pushRequestId(headers, response);
  response.writeHead(options.status, headers);
  // It destroys whichever end is left; there is nobody to tell.
  pipeline(body, response, () => undefined);
}

function pushRequestId(headers: string[], response: Response): void {
  const requestId = (response.req as Request & { id?: string }).id;
  if (requestId) headers.push('X-Request-Id', requestId);
}
