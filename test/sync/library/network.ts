import { Violation } from '../model.ts';
import type { Rng } from '../rng.ts';
import { summary, type World } from '../world.ts';
import { type BatchPart, isPull, isRead } from './batch-part.ts';
import { delay, type Fault, someFault, unavailable } from './faults.ts';

interface Sent {
  request: Request;
  body: string;
  parts: BatchPart[] | undefined;
}

/** Statuses of the requests of a batch. Others than these are failures of the service. */
const OF_PARTS = new Set([200, 201, 403, 404, 409, 410, 422, 424]);
const LARGEST_PAGE = 'limit=500';
/** Longest wait of a poll before it is sent, in milliseconds: without it, devices would synchronise all the time. */
const POLL_MS = 800;
const LATE_MS = 150;
/** Longer than a call of the library waits. */
const LONG_SECONDS = 120;
export const EXPIRED = 'expired';
const LOST = 'the connection is lost';

/**
 * The connection of a program on a device with the service: any of the servers gets a request, in pages of any size, and faults happen on the way.
 * It sees the responses of the service, also those that the program does not get.
 */
export class Network {
  isOffline = false;
  /** Whether faults happen. */
  isBad = true;
  private readonly world: World;
  private readonly user: string;
  private readonly name: string;
  private readonly rng: Rng;
  private readonly inFlight = new Set<Promise<unknown>>();
  private isCut = false;

  // No parameter properties: Node runs this file with its types stripped, which does not support them.
  /** @param number of the program: a device starts one after another */
  constructor(world: World, user: string, name: string, number: number) {
    this.world = world;
    this.user = user;
    this.name = name;
    this.rng = world.rng(`${name} network ${number}`);
  }

  /** The program has ended: it gets no response any more. What it has sent is executed. */
  cut(): void {
    this.isCut = true;
  }

  /** Waits until the service has executed all requests. */
  async drain(): Promise<void> {
    while (this.inFlight.size > 0) await Promise.all(this.inFlight);
  }

  /** The `fetch` of a client. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const body = await request.text();
    const result = await this.pass(request, body).then(
      (response) => () => response,
      (error: unknown) => () => {
        throw error;
      },
    );
    return this.isCut ? new Promise<never>(() => undefined) : result();
  };

  private async pass(request: Request, body: string): Promise<Response> {
    if (this.isOffline || this.isCut) throw new TypeError(LOST);
    const isPoll = request.url.includes('wait=');
    if (isPoll) await delay(this.rng.int(0, POLL_MS), request.signal);
    const parts: BatchPart[] | undefined = request.url.endsWith('/batch')
      ? this.withPages(JSON.parse(body).requests)
      : undefined;
    const sent = {
      request,
      parts,
      body: parts ? JSON.stringify({ ...JSON.parse(body), requests: parts }) : body,
    };
    const fault = this.isBad && !isPoll ? someFault(this.rng) : 'none';
    if (fault === 'none') return this.exchange(sent, request.signal);
    this.world.log(`${this.name}: ${fault} of ${new URL(request.url).pathname}`);
    this.world.count(`fault ${fault}`);
    return this.disturbed(fault, sent);
  }

  private async disturbed(fault: Fault, sent: Sent): Promise<Response> {
    const { rng } = this;
    const { signal } = sent.request;
    if (fault === 'lose') throw new TypeError(LOST);
    if (fault === 'unavailable') return unavailable(0);
    if (fault === 'unavailable-long') return unavailable(LONG_SECONDS);
    if (fault === 'late') {
      this.track(delay(rng.int(1, LATE_MS)).then(() => this.exchange(sent)));
      throw new TypeError(LOST);
    }
    if (fault === 'twice') {
      const both = [this.exchange(sent), this.exchange(sent)];
      for (const one of both) this.track(one);
      return rng.pick(both);
    }
    const response = await this.exchange(sent, signal);
    if (fault === 'lose-response') throw new TypeError(LOST);
    if (fault === 'slow') await delay(rng.int(1, LATE_MS), signal);
    const text = await response.clone().text();
    return fault === 'cut' ? new Response(text.slice(0, text.length / 2), response) : response;
  }

  private track(sending: Promise<unknown>): void {
    const ended = sending.then(
      () => undefined,
      () => undefined,
    );
    this.inFlight.add(ended);
    void ended.then(() => this.inFlight.delete(ended));
  }

  private async exchange({ request, body, parts }: Sent, signal?: AbortSignal): Promise<Response> {
    const { world, rng } = this;
    const { pathname, search } = new URL(request.url);
    const began = performance.now();
    const writes = (parts ?? []).filter((part) => !isRead(part));
    const sending = fetch(rng.pick(world.site.bases) + pathname + search, {
      method: request.method,
      headers: request.headers,
      body: body === '' ? null : body,
      ...(signal && writes.length === 0 && { signal }),
    }).then(async (response) => ({ response, text: await response.text() }));
    // A write that the program does not wait for any more is executed nevertheless, and its response is seen.
    if (writes.length > 0) this.track(sending);
    const { response, text } = await sending.catch((error: unknown) => {
      for (const part of writes) world.saves.unanswered(part);
      throw error;
    });
    world.answered += 1;
    this.check(request, response.status, text, began);
    if (parts && response.ok) this.received(parts, JSON.parse(text).responses, began);
    signal?.throwIfAborted();
    const seen = parts && response.ok ? withoutResults(parts, text) : text;
    return new Response(seen, { status: response.status, headers: response.headers });
  }

  /**
   * The library asks for the largest pages. In smaller ones, a feed has more interleavings with writes. It asks for writes without their
   * results, which the model needs.
   */
  private withPages(parts: BatchPart[]): BatchPart[] {
    const { rng } = this;
    return parts.map((part) => {
      const limit = rng.chance(0.25) ? rng.int(1, 5) : 500;
      if (part.method === 'GET') return { ...part, path: part.path.replace(LARGEST_PAGE, `limit=${limit}`) };
      if (isPull(part)) return { ...part, body: { ...part.body, limit } };
      const { Prefer: _, ...headers } = part.headers ?? {};
      return { ...part, headers };
    });
  }

  private check({ method, url, headers }: Request, status: number, text: string, began: number): void {
    const outcome = status < 400 ? `${status}` : `${status} ${JSON.parse(text).error}`;
    this.world.count(`status ${status}`);
    if (status < 400) return;
    this.world.log(`${this.name} ${method} ${new URL(url).pathname} -> ${outcome}`);
    const isExpired = status === 401 && headers.get('Authorization')!.includes(EXPIRED);
    if (!isExpired) this.checkFailure(`${this.name} ${method} ${url}`, outcome, text, began);
  }

  private received(parts: BatchPart[], responses: { status: number; body: any }[], began: number): void {
    const { world } = this;
    for (const [n, part] of parts.entries()) {
      const { status, body } = responses[n]!;
      const outcome = status < 400 ? `${status}` : `${status} ${body.error}`;
      const line = `${this.name} ${part.method} ${part.path.replace('/apis/v1', '')}${textOf(part)}`;
      world.log(`${line} -> ${outcome}${summary(body)}`);
      world.count(isRead(part) ? 'library pages' : `library write ${outcome}`);
      if (status === 410) world.count('library 410s');
      for (const { op } of body?.changes ?? [])
        if (op === 'delete') world.count(isPull(part) ? 'event removals' : 'contact removals');
      if (!OF_PARTS.has(status)) this.checkFailure(line, outcome, JSON.stringify(body), began);
      else if (!isRead(part)) this.recorded(() => world.saves.answered(this.user, part, status, body));
    }
  }

  /** A violation fails the run, not the request: the program must not see it. */
  private recorded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.world.fail(error);
    }
  }

  private checkFailure(line: string, outcome: string, text: string, began: number): void {
    if (this.world.mayReject(outcome, line, began)) return;
    this.world.fail(new Violation(`${line} -> ${outcome} ${text.slice(0, 500)}`));
  }
}

/** What the service responds with `Prefer: return=minimal`. */
function withoutResults(parts: BatchPart[], text: string): string {
  const { responses } = JSON.parse(text);
  for (const [n, part] of parts.entries())
    if (!isRead(part) && responses[n].status < 300 && responses[n].headers.etag) responses[n].body = null;
  return JSON.stringify({ responses });
}

const textOf = ({ body }: BatchPart): string => (body ? ` ${JSON.stringify(body)}` : '');
