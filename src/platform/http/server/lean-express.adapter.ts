import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type RequestHandler, type Response, type Router } from 'express';
import { JsonReply } from '../json-reply.js';
import { BodyReply } from '../replies/body-reply.js';
import { ContentReply } from '../replies/content-reply.js';
import { writeContent } from '../replies/content-writer.js';
import { writeBody, writeJson } from '../replies/reply-writer.js';
import { createHttpServer } from './client-error.js';

type Method = 'delete' | 'get' | 'head' | 'patch' | 'post' | 'put';

/** Nest's adapters declare this type. Controllers always pass a path. */
type Register = {
  (handler: RequestHandler): unknown;
  (path: unknown, handler: RequestHandler): unknown;
};

const LITERAL = /^[\w.-]+$/;

/** One router for each third path segment. */
type Routers = Map<string, Router>;

/**
 * Selects the routes of a request by the third segment of its path: `/apis/v1/<segment>`. Express itself tries all routes in
 * order, so that each new domain slows down the domains behind it. The order of routes and middleware is kept: routes that are
 * registered after a middleware run after it.
 */
export class RouteIndex {
  /** One entry for each run of routes without a middleware between them. */
  private readonly groups: Routers[] = [];
  /** Length of the stack of Express after the last registered route. */
  private layers = 0;

  constructor(private readonly app: Express) {}

  /** @returns the function that registers routes of this method */
  registrar(method: Method): Register {
    return (path: unknown, ...handlers: RequestHandler[]) => this.add(method, path as string, handlers);
  }

  get routers(): Router[] {
    return this.groups.flatMap((routers) => [...routers.values()]);
  }

  private add(method: Method, path: string, handlers: RequestHandler[]): unknown {
    const segment = segmentOf(path);
    if (!LITERAL.test(segment)) return this.app[method](path, ...handlers);
    const routers = this.currentGroup();
    let router = routers.get(segment);
    if (!router) {
      router = express.Router({ strict: true, caseSensitive: true });
      routers.set(segment, router);
    }
    return router[method](path, ...handlers);
  }

  /** The last group, or a new one when a middleware was added after it. */
  private currentGroup(): Routers {
    const { stack } = this.app.router as unknown as { stack: unknown[] };
    const current = this.groups.at(-1);
    if (current && stack.length === this.layers) return current;
    const routers: Routers = new Map();
    this.groups.push(routers);
    this.app.use(dispatch(routers));
    this.layers = stack.length;
    return routers;
  }
}

const dispatch =
  (routers: Routers): RequestHandler =>
  (request, response, next) => {
    const router = routers.get(segmentOf(request.path));
    // A router itself responds to OPTIONS when a path matches.
    if (router && request.method !== 'OPTIONS') router(request, response, next);
    else next();
  };

/** The third segment of a path; empty when the path is shorter. */
function segmentOf(path: string): string {
  let start = 0;
  for (let n = 0; n < 3; n += 1) {
    start = path.indexOf('/', start) + 1;
    if (start === 0) return '';
  }
  const end = path.indexOf('/', start);
  return end < 0 ? path.slice(start) : path.slice(start, end);
}

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
