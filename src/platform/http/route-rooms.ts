import express, { type Express, type RequestHandler, type Router } from 'express';

type Method = 'delete' | 'get' | 'head' | 'patch' | 'post' | 'put';

/** As Nest's adapters declare it; controllers always give a path. */
type Register = {
  (handler: RequestHandler): unknown;
  (path: unknown, handler: RequestHandler): unknown;
};

const LITERAL = /^[\w.-]+$/;

/**
 * Finds a route by its domain first. Express tries one route after the other, so that each new domain makes those behind
 * it slower; here a request only meets the routes whose path has the same `/<a>/<b>/<domain>` as its own.
 */
export class RouteRooms {
  private readonly rooms = new Map<string, Router>();

  constructor(private readonly app: Express) {}

  /** What registers routes of a method; all of them at the place of the first one among the middleware. */
  registrar(method: Method): Register {
    return (path: unknown, ...handlers: RequestHandler[]) => this.add(method, path as string, handlers);
  }

  get routers(): Router[] {
    return [...this.rooms.values()];
  }

  private add(method: Method, path: string, handlers: RequestHandler[]): unknown {
    const name = domainOf(path);
    if (!LITERAL.test(name)) return this.app[method](path, ...handlers);
    if (this.rooms.size === 0) this.app.use(this.enter);
    let room = this.rooms.get(name);
    if (!room) {
      room = express.Router({ strict: true, caseSensitive: true });
      this.rooms.set(name, room);
    }
    return room[method](path, ...handlers);
  }

  private readonly enter: RequestHandler = (request, response, next) => {
    const room = this.rooms.get(domainOf(request.path));
    // A router answers OPTIONS by itself when a path matches.
    if (room && request.method !== 'OPTIONS') room(request, response, next);
    else next();
  };
}

/** The third segment of a path; empty when there is none. */
function domainOf(path: string): string {
  let start = 0;
  for (let n = 0; n < 3; n += 1) {
    start = path.indexOf('/', start) + 1;
    if (start === 0) return '';
  }
  const end = path.indexOf('/', start);
  return end < 0 ? path.slice(start) : path.slice(start, end);
}
