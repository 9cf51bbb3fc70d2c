import express, { type Express, type RequestHandler, type Router } from 'express';

type Method = 'delete' | 'get' | 'head' | 'patch' | 'post' | 'put';

/** As Nest's adapters declare it; controllers always give a path. */
type Register = {
  (handler: RequestHandler): unknown;
  (path: unknown, handler: RequestHandler): unknown;
};

const LITERAL = /^[\w.-]+$/;

type Rooms = Map<string, Router>;

/**
 * Finds a route by its domain first. Express tries one route after the other, so that each new domain makes those behind
 * it slower; here a request only meets the routes whose path has the same `/<a>/<b>/<domain>` as its own. Routes and
 * middleware keep their order: what was registered after a middleware comes after it.
 */
export class RouteRooms {
  private readonly floors: Rooms[] = [];
  /** Layers that Express had when the last route was registered. */
  private layers = 0;

  constructor(private readonly app: Express) {}

  /** What registers routes of a method. */
  registrar(method: Method): Register {
    return (path: unknown, ...handlers: RequestHandler[]) => this.add(method, path as string, handlers);
  }

  get routers(): Router[] {
    return this.floors.flatMap((rooms) => [...rooms.values()]);
  }

  private add(method: Method, path: string, handlers: RequestHandler[]): unknown {
    const name = domainOf(path);
    if (!LITERAL.test(name)) return this.app[method](path, ...handlers);
    const rooms = this.currentFloor();
    let room = rooms.get(name);
    if (!room) {
      room = express.Router({ strict: true, caseSensitive: true });
      rooms.set(name, room);
    }
    return room[method](path, ...handlers);
  }

  /** Where routes go; a new one when there is middleware since the last. */
  private currentFloor(): Rooms {
    const { stack } = this.app.router as unknown as { stack: unknown[] };
    const current = this.floors.at(-1);
    if (current && stack.length === this.layers) return current;
    const rooms: Rooms = new Map();
    this.floors.push(rooms);
    this.app.use(enter(rooms));
    this.layers = stack.length;
    return rooms;
  }
}

const enter =
  (rooms: Rooms): RequestHandler =>
  (request, response, next) => {
    const room = rooms.get(domainOf(request.path));
    // A router answers OPTIONS by itself when a path matches.
    if (room && request.method !== 'OPTIONS') room(request, response, next);
    else next();
  };

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
