import { channel } from 'node:diagnostics_channel';
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import { sampleThread, type ThreadSample } from '../workers/thread-sample.js';
import type { LoggedRequest } from './access-log.js';
import type { Metrics } from './metrics.js';

/** Milliseconds between two samples. */
const EVERY_MS = 50;
/** A hold: the sample is late by this time, and the thread computed for this time. Milliseconds. */
const HOLD_MS = 100;
const MAX_ROUTES = 5;

/** A computation that held the event loop, as the channel {@link HOLDS} tells it to diagnostic tools and to the tests. */
export interface LoopHold {
  /** Processor time of this thread, milliseconds. */
  ms: number;
  /** Methods and patterns of the requests that were open, one of which computed. */
  routes: string[];
}

/** `workspace:event-loop-held` has a message of {@link LoopHold} for each hold. */
const HOLDS = channel('workspace:event-loop-held');

/**
 * Reports when the event loop is held: no other request proceeds meanwhile. The log names the routes of the requests that were
 * open, one of which computed; the counter names the route if there is only one. A thread that waits for a processor does not compute, so
 * that a busy machine causes no reports.
 */
export class LoopWatch {
  /**
   * The open requests at their places. Not a `Set`: one that items enter and leave all the time replaces its table every few items, and each
   * replaced table that is older than the young generation keeps the next one alive, with the requests in it. test/bench/README.md has the
   * measurement.
   */
  private readonly open: (LoggedRequest | undefined)[] = [];
  private readonly freePlaces: number[] = [];
  /** Routes and methods of the requests that ended since the last sample. The requests themselves would outlive the young generation. */
  private ended = new Map<string, Set<string>>();
  private readonly held: Counter;
  private last: ThreadSample;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly logger: Pick<Logger, 'warn'>,
    metrics: Pick<Metrics, 'registry'>,
    private readonly sample: () => ThreadSample = sampleThread,
  ) {
    this.last = sample();
    this.held = new Counter({
      name: 'event_loop_held_seconds_total',
      help: 'Processor time of computations that held the event loop for 0.1 s and more. Route: none, or several, were open.',
      labelNames: ['route'],
      registers: [metrics.registry],
    });
  }

  start(): void {
    // The start of the application is no hold.
    this.last = this.sample();
    this.timer = setInterval(() => this.check(), EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Counts a request as open until `end`. @returns its place */
  begin(request: LoggedRequest): number {
    const place = this.freePlaces.pop() ?? this.open.length;
    this.open[place] = request;
    return place;
  }

  /** The response of the open request at this place has closed. */
  end(place: number): void {
    const request = this.open[place];
    if (!request) return;
    this.open[place] = undefined;
    this.freePlaces.push(place);
    const pattern = patternOf(request);
    const methods = this.ended.get(pattern);
    if (methods) methods.add(request.method);
    else this.ended.set(pattern, new Set([request.method]));
  }

  /** Takes a sample, and reports a hold since the last one. */
  check(): void {
    const { at, computed } = this.sample();
    const late = at - this.last.at - EVERY_MS;
    const used = computed - this.last.computed;
    this.last = { at, computed };
    const { ended } = this;
    if (ended.size > 0) this.ended = new Map();
    if (late < HOLD_MS || used < HOLD_MS) return;
    const routes = this.routes(ended);
    const [route = 'none'] = routes.length > 1 ? ['several'] : routes;
    this.held.inc({ route }, used / 1_000);
    HOLDS.publish({ ms: used, routes } satisfies LoopHold);
    const fields = { ms: Math.round(late), cpu_ms: Math.round(used), routes: routes.slice(0, MAX_ROUTES) };
    this.logger.warn(fields, 'the event loop was held');
  }

  /** Methods and patterns of the requests that ended, and of the open ones. */
  private routes(ended: ReadonlyMap<string, ReadonlySet<string>>): string[] {
    const ofEnded = [...ended].flatMap(([pattern, methods]) =>
      [...methods].map((method) => `${method} ${pattern}`),
    );
    const ofOpen = this.open
      .filter((request) => request !== undefined)
      .map((request) => `${request.method} ${patternOf(request)}`);
    return [...new Set([...ofEnded, ...ofOpen])];
  }
}

/** The pattern of the route: paths contain ids and credentials. */
const patternOf = ({ route }: LoggedRequest): string =>
  (route as { path?: string } | undefined)?.path ?? 'unknown';
