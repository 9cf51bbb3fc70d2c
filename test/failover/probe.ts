import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from '../soak/load.ts';

const PAUSE_MS = 50;
const TIMEOUT_MS = 30_000;
/** Notes whose reads are pending. */
const MAX_CHECKS = 8;
/** Notes of a list. A note that has waited longer for its check, while so many others were written, is not looked for. */
const LISTED = 100;
const ATTEMPTS = 20;

/**
 * A client that writes a note at one process and reads it at each process at once: through the primary, it must be there. It
 * measures for how long no write succeeds.
 */
export class Probe {
  /** Time of the last acknowledged write, and the longest time between two of them, milliseconds. */
  private last = performance.now();
  private longest = 0;
  private cursor: string | undefined;
  private isFollowing = false;
  /** Ids of the notes of the feed so far, and of those that were acknowledged and are not among them. */
  private readonly seen = new Set<string>();
  private readonly unseen = new Set<string>();
  /** Number of notes that may have been stored. */
  private sent = 0;
  private readonly token: string;
  private readonly bases: readonly string[];
  private readonly ledger: Ledger;

  constructor(token: string, bases: readonly string[], ledger: Ledger) {
    this.token = token;
    this.bases = bases;
    this.ledger = ledger;
  }

  async run(goOn: () => boolean): Promise<void> {
    const checks = new Set<Promise<void>>();
    for (let n = 0; goOn(); n += 1) {
      const [base, other] = n % 2 ? this.bases : this.bases.toReversed();
      const id = await this.write(base!);
      // Reads that wait for a database do not delay the next write.
      if (id !== undefined && checks.size < MAX_CHECKS) {
        const check = this.check(id, [base!, other!]).finally(() => checks.delete(check));
        checks.add(check);
      }
      await delay(PAUSE_MS);
    }
    await Promise.all(checks);
    for (let attempt = 1; !(await this.follow(this.bases[0]!)); attempt += 1) {
      if (attempt === ATTEMPTS) return void this.ledger.violations.push('the feed cannot be read at the end');
      await delay(1_000);
    }
  }

  /** Resolves with the time of the first write that is acknowledged from now on. */
  async nextWrite(): Promise<number> {
    for (const since = performance.now(); ; await delay(10)) if (this.last > since) return this.last;
  }

  /** The longest time without a write since the last call, milliseconds. */
  takeLongest(): number {
    const { longest } = this;
    this.longest = 0;
    return longest;
  }

  /** @returns the id of the note, if it was acknowledged */
  private async write(base: string): Promise<string | undefined> {
    this.sent += 1;
    const written = await this.send(base, 'POST', '/notes', { title: `probe ${this.sent}` });
    if (written?.status !== 201) return undefined;
    const now = performance.now();
    this.longest = Math.max(this.longest, now - this.last);
    this.last = now;
    const { id } = written.body.note;
    this.ledger.add('notes', id);
    if (!this.seen.has(id)) this.unseen.add(id);
    this.ledger.count('probe: written');
    return id;
  }

  /** Each process has the note at once: in a read, in the list, which a replica may serve, and in the change feed. */
  private async check(id: string, bases: readonly string[]): Promise<void> {
    const before = this.sent;
    for (const base of bases) {
      const read = await this.send(base, 'GET', `/notes/${id}`);
      if (read?.status === 404) this.ledger.violations.push(`stale read: ${id} is missing`);
      const list = await this.send(base, 'GET', `/notes?limit=${LISTED}`);
      const isAmongLast = this.sent - before < LISTED;
      if (
        isAmongLast &&
        list?.status === 200 &&
        !list.body.notes.some((note: { id: string }) => note.id === id)
      )
        this.ledger.violations.push(`stale list: ${id} is missing`);
    }
    if (this.isFollowing) return;
    this.isFollowing = true;
    await this.follow(bases[1]!).finally(() => (this.isFollowing = false));
  }

  /**
   * The change feed has each note that was acknowledged before, and its cursor stays valid.
   * @returns whether it could be read
   */
  private async follow(base: string): Promise<boolean> {
    const due = [...this.unseen];
    for (;;) {
      const query = this.cursor === undefined ? '' : `&cursor=${this.cursor}`;
      const page = await this.send(base, 'GET', `/notes/changes?limit=200${query}`);
      if (page?.status === 410) this.ledger.violations.push('stale feed: 410 for a cursor');
      if (page?.status !== 200) return false;
      this.cursor = page.body.cursor;
      for (const { id } of page.body.notes) {
        this.seen.add(id);
        this.unseen.delete(id);
      }
      if (!page.body.has_more) break;
    }
    this.ledger.count('probe: followed');
    for (const id of due)
      if (this.unseen.delete(id)) this.ledger.violations.push(`stale feed: ${id} is missing`);
    return true;
  }

  private async send(
    base: string,
    method: string,
    route: string,
    body?: object,
  ): Promise<{ status: number; body: any } | undefined> {
    try {
      const response = await fetch(`${base}/apis/v1${route}`, {
        method,
        headers: {
          authorization: `Bearer ${this.token}`,
          ...(body && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const answer: any = await response.json();
      if (response.status >= 500) this.checkError(method, route, response, answer);
      return { status: response.status, body: answer };
    } catch (error) {
      this.ledger.violations.push(`${method} ${route}: no response (${String(error)})`);
      return undefined;
    }
  }

  private checkError(method: string, route: string, response: Response, body: any): void {
    this.ledger.count(`probe: ${response.status} ${body.error}`);
    if (response.status !== 503 || typeof body.message !== 'string' || !response.headers.has('retry-after'))
      this.ledger.violations.push(`${method} ${route}: ${response.status} ${JSON.stringify(body)}`);
  }
}
