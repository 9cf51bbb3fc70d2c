import { Violation } from '../model.ts';
import type { Rng } from '../rng.ts';
import { summary, type World } from '../world.ts';

/** A request of a batch. */
export interface BatchPart {
  method: string;
  path: string;
  body?: Record<string, any>;
  headers?: Record<string, string>;
}

/** Statuses of the requests of a batch. Others than these are failures of the service. */
const OF_PARTS = new Set([200, 201, 403, 404, 409, 410, 422, 424]);
const LARGEST_PAGE = 'limit=200';
/** Longest wait of a poll before it is sent, in milliseconds: without it, devices would synchronise all the time. */
const POLL_MS = 300;

/** The connection of a device with the service: any of the servers answers a request, in pages of any size. */
export class Network {
  isOffline = false;
  private readonly world: World;
  private readonly name: string;
  private readonly rng: Rng;

  // No parameter properties: Node runs this file with its types stripped, which does not support them.
  constructor(world: World, name: string) {
    this.world = world;
    this.name = name;
    this.rng = world.rng(`${name} network`);
  }

  /** The `fetch` of a client. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const body = await request.text();
    if (this.isOffline) throw new TypeError('the connection is lost');
    if (request.url.includes('wait=')) await delay(this.rng.int(0, POLL_MS), request.signal);
    return this.exchange(request, body);
  };

  private async exchange(request: Request, body: string): Promise<Response> {
    const { world, rng } = this;
    const { pathname, search } = new URL(request.url);
    const parts = pathname.endsWith('/batch') ? this.withPages(JSON.parse(body).requests) : undefined;
    const sent = parts ? JSON.stringify({ ...JSON.parse(body), requests: parts }) : body;
    const began = performance.now();
    const base = rng.pick(world.site.bases);
    const response = await fetch(base + pathname + search, {
      method: request.method,
      headers: request.headers,
      body: sent === '' ? null : sent,
      signal: request.signal,
    });
    const text = await response.text();
    this.check(request, response.status, text, began);
    if (parts && response.ok) this.received(parts, JSON.parse(text).responses, began);
    return new Response(text, { status: response.status, headers: response.headers });
  }

  /** The library asks for the largest pages. In smaller ones, a feed has more interleavings with writes. */
  private withPages(parts: BatchPart[]): BatchPart[] {
    const { rng } = this;
    return parts.map((part) => {
      const limit = rng.chance(0.25) ? rng.int(1, 5) : 200;
      if (part.method === 'GET') return { ...part, path: part.path.replace(LARGEST_PAGE, `limit=${limit}`) };
      return isPull(part) ? { ...part, body: { ...part.body, limit } } : part;
    });
  }

  private check({ method, url }: Request, status: number, text: string, began: number): void {
    const outcome = status < 400 ? `${status}` : `${status} ${JSON.parse(text).error}`;
    if (status >= 400) this.world.log(`${this.name} ${method} ${new URL(url).pathname} -> ${outcome}`);
    this.world.count(`library ${outcome}`);
    if (status >= 400) this.checkFailure(`${this.name} ${method} ${url}`, outcome, text, began);
  }

  private received(parts: BatchPart[], responses: { status: number; body: any }[], began: number): void {
    for (const [n, part] of parts.entries()) {
      const { status, body } = responses[n]!;
      const outcome = status < 400 ? `${status}` : `${status} ${body.error}`;
      const line = `${this.name} ${part.method} ${part.path.replace('/apis/v1', '')}${textOf(part)}`;
      this.world.log(`${line} -> ${outcome}${summary(body)}`);
      this.world.count(isRead(part) ? 'library pages' : `library write ${outcome}`);
      if (status === 410) this.world.count('library 410s');
      for (const { op } of body?.changes ?? [])
        if (op === 'delete') this.world.count(isPull(part) ? 'event removals' : 'contact removals');
      if (!OF_PARTS.has(status)) this.checkFailure(line, outcome, JSON.stringify(body), began);
    }
  }

  private checkFailure(line: string, outcome: string, text: string, began: number): void {
    if (this.world.mayReject(outcome, line, began)) return;
    this.world.fail(new Violation(`${line} -> ${outcome} ${text.slice(0, 500)}`));
  }
}

/** A page of the events of a calendar. */
const isPull = ({ method, path }: BatchPart): boolean => method === 'POST' && path.endsWith('/sync');
const isRead = (part: BatchPart): boolean => part.method === 'GET' || isPull(part);
const textOf = ({ body }: BatchPart): string => (body ? ` ${JSON.stringify(body)}` : '');

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
