import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Response, type Router } from 'express';
import { BodyReply } from '../replies/body-reply.js';
import { createHttpServer } from './client-error.js';
import { ContentReply } from '../replies/content-reply.js';
import { writeContent } from '../replies/content-writer.js';
import { JsonReply } from '../json-reply.js';
import { writeBody, writeJson } from '../replies/reply-writer.js';
import { RouteIndex } from './route-index.js';

/**
 * Express for a JSON API: no automatic ETags, no X-Powered-By, no nested query strings; strict and case-sensitive routing
 * through a `RouteIndex`; responses written in one call with precomputed headers. test/bench/README.md has the measurements.
 */
export class LeanExpressAdapter extends ExpressAdapter {
  private readonly routes = new RouteIndex(this.instance);

  constructor() {
    const app = express();
    app.disable('x-powered-by');
    app.set('etag', false);
    app.set('query parser', 'simple');
    app.set('strict routing', true);
    app.set('case sensitive routing', true);
    super(app);
  }

  override initHttpServer(): void {
    this.httpServer = createHttpServer(this.instance);
  }

  // Nest registers the handlers of controllers with these. Handlers for all methods, and OPTIONS, stay with Express.
  override delete = this.routes.registrar('delete');
  override get = this.routes.registrar('get');
  override head = this.routes.registrar('head');
  override patch = this.routes.registrar('patch');
  override post = this.routes.registrar('post');
  override put = this.routes.registrar('put');

  /** The routers of the index. Express keeps the other routes. */
  get routers(): Router[] {
    return this.routes.routers;
  }

  override reply(response: Response, body: unknown, status?: number): unknown {
    if (body instanceof JsonReply) {
      return writeJson(response, body.options.status ?? status ?? 200, body.json, body.options);
    }
    if (body instanceof BodyReply) return writeBody(response, body);
    if (body instanceof ContentReply) return writeContent(response, body);
    if (body === undefined || body === null || typeof body !== 'object' || 'getStream' in body) {
      return super.reply(response, body, status);
    }
    return writeJson(response, status ?? response.statusCode, JSON.stringify(body));
  }
}
