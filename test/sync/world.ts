import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ContactLedger } from './contact-ledger.ts';
import { Saves } from './library/saves.ts';
import { Access, Ledger, Violation } from './model.ts';
import { Rng } from './rng.ts';
import { TaskLedger } from './task-ledger.ts';

export interface User {
  id: string;
  email: string;
  name: string;
  tenantId: string;
  token: string;
}

/** The service under test, and its operations besides requests. */
export interface Site {
  databaseUrl: string;
  /** Addresses of the servers, which share the database. */
  bases: string[];
  /** Three members of one workspace. */
  users: User[];
  /** A user of another workspace. */
  canary: User;
  /** Runs the retention job for removals from before that time. */
  forget(before: Date): Promise<unknown>;
  /** Runs the jobs that empty the trash. */
  purgeTrash(): Promise<unknown>;
  /** Kills a server without warning and starts it again at the same address. */
  crash?: (index: number) => Promise<void>;
  /**
   * Moves the workspace of the users to another database. Returns when the former one has no rows of it.
   * @param noticed whether a write was rejected because of the move
   */
  move?: (noticed: () => boolean) => Promise<unknown>;
  /** The database that the workspace is in; `databaseUrl` unless it moves. */
  currentDatabase?: () => Promise<string>;
}

export interface Received {
  /** 0: no response, the server has stopped; the request may have been executed or not. */
  status: number;
  body: any;
  began: number;
}

export interface KnownNote {
  id: string;
  owner: User;
  token: string | null;
}

const TRACE = 6_000;
/** The share of requests that may meet a lock that timed out: a loaded machine stalls more often than an idle one. */
const MAX_OVERLOADED = 0.002;
/** A request without a response is examined in this interval. */
const PATIENCE_SECONDS = 30;
/** Responses to other requests after which it has been forgotten: a loaded machine delays all of them. */
const OVERTAKEN = 500;
/** Examinations after which it is given up, where no other request gets a response either. */
const MAX_EXAMINATIONS = 20;
const REPEATED_AFTER_MOVE = 'requests repeated after a move';
const OVERLOADED = 'requests that met an overload';
const NO_ANSWER_GRACE_MS = 1_500;
/** SQLSTATE of a write in a workspace that is being moved. */
export const IS_MOVING = '57P03';

/** A created task, also one in the trash. */
export interface KnownTask {
  id: string;
  creator: User;
}

/** State that all actors share. */
export class World {
  readonly site: Site;
  readonly seed: string;
  readonly access = new Access();
  readonly ledger = new Ledger();
  /** Created notes, also those in the trash. */
  readonly notes: KnownNote[] = [];
  readonly purged: string[] = [];
  readonly folders = new Map<string, string[]>();
  readonly tasks: KnownTask[] = [];
  /** Ids of purged tasks. */
  readonly purgedTasks: string[] = [];
  /** Task folders by owner. */
  readonly taskFolders = new Map<string, string[]>();
  readonly taskLedger = new TaskLedger();
  readonly contactLedger = new ContactLedger();
  /** What devices save with the library. */
  readonly saves = new Saves<User>(this);
  /** Cursors that devices were given, by user. */
  readonly cursors = new Map<string, string[]>();
  readonly counts = new Map<string, number>();
  readonly trace: string[] = [];
  failure: unknown;
  /** Notes with unknown ids may exist: their creation got no response. */
  nameless = false;
  private readonly pools = new Map<string, pg.Pool>();
  private disturbedUntil = 0;
  private movingUntil = 0;
  private down: string | undefined;
  private serial = 0;
  /** Responses so far, to all clients. */
  answered = 0;
  private readonly began = performance.now();

  constructor(site: Site, seed: string) {
    this.site = site;
    this.seed = seed;
  }

  rng(name: string): Rng {
    return new Rng(`${this.seed} ${name}`);
  }

  /** A text that no other write has. */
  unique(): string {
    this.serial += 1;
    return `w${this.serial}`;
  }

  count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }

  log(line: string): void {
    this.trace.push(`${((performance.now() - this.began) / 1000).toFixed(3)} ${line}`);
    if (this.trace.length > TRACE) this.trace.splice(0, TRACE / 2);
  }

  fail(error: unknown): void {
    this.failure ??= error;
  }

  get failed(): boolean {
    return this.failure !== undefined;
  }

  /** Runs SQL in the database of the workspace. Repeats it while a move rejects writes. */
  async sql<Row = any>(text: string, values: unknown[] = []): Promise<Row[]> {
    const began = performance.now();
    const url = (await this.site.currentDatabase?.()) ?? this.site.databaseUrl;
    try {
      return (await this.poolOf(url).query(text, values)).rows as Row[];
    } catch (error) {
      if ((error as { code?: string }).code !== IS_MOVING || !this.isMoving(began)) throw error;
      await delay(20);
      return this.sql(text, values);
    }
  }

  private poolOf(url: string): pg.Pool {
    const known = this.pools.get(url);
    if (known) return known;
    const pool = new pg.Pool({ connectionString: url, max: 4 });
    // The pool replaces an idle connection that ends. A connection in use rejects its query.
    pool.on('error', () => undefined);
    this.pools.set(url, pool);
    return pool;
  }

  /** Moves the workspace: writes get 503 meanwhile. */
  async move(): Promise<void> {
    this.movingUntil = Infinity;
    const before = this.repeatedAfterMove;
    try {
      await this.site.move!(() => this.failed || this.repeatedAfterMove > before);
    } finally {
      this.movingUntil = performance.now() + NO_ANSWER_GRACE_MS;
    }
  }

  private get repeatedAfterMove(): number {
    return this.counts.get(REPEATED_AFTER_MOVE) ?? 0;
  }

  /** @param began the time at which a request was sent: its response may be late */
  isMoving(began: number): boolean {
    return began < this.movingUntil;
  }

  /** Crashes a server: requests may get no response meanwhile and shortly after. */
  async crash(index: number): Promise<void> {
    this.disturbedUntil = Infinity;
    this.down = this.site.bases[index];
    try {
      await this.site.crash!(index);
    } finally {
      this.down = undefined;
      this.disturbedUntil = performance.now() + NO_ANSWER_GRACE_MS;
    }
  }

  get disturbed(): boolean {
    return performance.now() < this.disturbedUntil;
  }

  /**
   * One request to any of the servers.
   * @param allowed statuses with the error code, as in `200` or `409 conflict`
   */
  async call(
    rng: Rng,
    user: User,
    method: string,
    path: string,
    body: unknown,
    allowed: readonly string[],
  ): Promise<Received> {
    // A client of a stopped server usually tries another one.
    const choice = rng.pick(this.site.bases);
    const base = choice === this.down && rng.chance(0.8) ? rng.pick(this.site.bases) : choice;
    const began = performance.now();
    const line = `${user.name} ${method} ${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`;
    let status = 0;
    let response: any;
    try {
      ({ status, response } = await this.patiently((signal) =>
        exchange(`${base}/apis/v1${path}`, user.token, method, body, signal),
      ));
    } catch (error) {
      if (began >= this.disturbedUntil) throw new Violation(`no response to ${line}: ${String(error)}`);
    }
    const outcome = status === 0 ? '0' : `${status}${status < 400 ? '' : ` ${response?.error}`}`;
    this.log(`${line} -> ${outcome}${summary(response)} @${this.site.bases.indexOf(base)}`);
    this.count(`status ${status}`);
    if (status === 0) await delay(50);
    else if (outcome === '503 database_unavailable' && this.isMoving(began)) {
      // Nothing was written.
      this.count(REPEATED_AFTER_MOVE);
      await delay(20);
      return this.call(rng, user, method, path, body, allowed);
    }
    if (outcome === '503 overloaded') {
      this.overloaded(line);
      if (method === 'GET') return this.call(rng, user, method, path, body, allowed);
    } else if (status !== 0 && !allowed.includes(outcome))
      throw new Violation(`${line} -> ${outcome} ${JSON.stringify(response).slice(0, 500)}`, ...idsIn(line));
    return { status, body: response, began };
  }

  /**
   * Makes a request. It fails if it gets no response although many others get theirs meanwhile: a run must not hang, and the time that a
   * response takes depends on the machine.
   */
  async patiently<T>(request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    const before = this.answered;
    let examinations = 0;
    const late = new Promise<never>((_resolve, reject) => {
      abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error));
    });
    const timer = setInterval(() => {
      const others = this.answered - before;
      examinations += 1;
      if (others < OVERTAKEN && examinations < MAX_EXAMINATIONS) return;
      abort.abort(
        new Error(`nothing for ${examinations * PATIENCE_SECONDS} s and ${others} other responses`),
      );
    }, PATIENCE_SECONDS * 1000);
    try {
      const response = await Promise.race([request(abort.signal), late]);
      this.answered += 1;
      return response;
    } finally {
      clearInterval(timer);
    }
  }

  /** Whether the service may reject a request at the moment. @param began the time at which it was sent */
  mayReject(outcome: string, line: string, began: number): boolean {
    const isBusy = outcome === '503 overloaded' || outcome === '503 database_timeout';
    if (isBusy) this.overloaded(line);
    return (
      isBusy ||
      (outcome === '503 database_unavailable' && (this.isMoving(began) || began < this.disturbedUntil))
    );
  }

  /** A lock or a statement timed out. The machine may stall now and then, the service may not. Nothing was written. */
  private overloaded(line: string): void {
    this.count(OVERLOADED);
    const times = this.counts.get(OVERLOADED) ?? 0;
    const requests = [...this.counts].reduce(
      (sum, [name, n]) => sum + (name.startsWith('status ') ? n : 0),
      0,
    );
    if (times > 3 + requests * MAX_OVERLOADED)
      throw new Violation(`overloaded for the ${times}th time: ${line}`);
  }

  async close(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.end()));
  }
}

/** One request with its response. */
async function exchange(
  url: string,
  token: string,
  method: string,
  body: unknown,
  signal: AbortSignal,
): Promise<{ status: number; response: any }> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal,
  });
  return { status: response.status, response: await response.json() };
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

function idsIn(text: string): string[] {
  return text.match(UUID) ?? [];
}

export function summary(response: any): string {
  const { notes, tasks, folders, changes } = response ?? {};
  const items = notes ?? tasks ?? folders ?? changes;
  if (Array.isArray(items)) {
    const texts = items.map(items === changes ? changeSummary : itemSummary);
    return ` [${texts.join(' ')}]${response.has_more ? ' …' : ''} ${place(response.cursor)}`;
  }
  const item = response?.note ?? response?.task ?? response?.folder;
  if (item) return ` ${item.id} r${item.revision}`;
  return '';
}

const itemSummary = ({ id, removed, revision }: any): string => `${id}${removed ? '-' : `r${revision}`}`;

/** A change of an address book by the external id of its contact, of a calendar by the id of its event. */
function changeSummary({ op, contact, event, external_id: removed, id }: any): string {
  if (op === 'delete') return `${removed ?? id}-`;
  return `${contact?.external_id ?? event?.id}r${contact?.revision ?? event?.revision}`;
}

/** Mode, number and beginning of a cursor, from its payload, to check that it never goes back. */
export function readCursor(cursor: string): { mode: number; seq: number; since: number } {
  const [mode, seq, since] = JSON.parse(Buffer.from(cursor.split('.')[1] ?? '', 'base64url').toString()) as [
    number,
    number,
    number,
  ];
  return { mode, seq, since };
}

function place(cursor: unknown): string {
  if (typeof cursor !== 'string') return '';
  const { mode, seq, since } = readCursor(cursor);
  return `${mode === 0 ? 'c' : 'i'}${seq}/${since}`;
}
