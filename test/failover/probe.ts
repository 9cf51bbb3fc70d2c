import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from '../soak/load.ts';

const PAUSE_MS = 50;
const TIMEOUT_MS = 30_000;

/**
 * A client that writes a note at one process and reads it at each process at once: through the primary, it must be there. It
 * measures for how long no write succeeds.
 */
export class Probe {
  /** Time of the last acknowledged write, and the longest time between two of them, milliseconds. */
  private last = performance.now();
  private longest = 0;
  private cursor: string | undefined;
  private readonly token: string;
  private readonly bases: readonly string[];
  private readonly ledger: Ledger;

  constructor(token: string, bases: readonly string[], ledger: Ledger) {
    this.token = token;
    this.bases = bases;
    this.ledger = ledger;
  }

  async run(goOn: () => boolean): Promise<void> {
    for (let n = 0; goOn(); n += 1) {
      await this.step(n);
      await delay(PAUSE_MS);
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

  private async step(n: number): Promise<void> {
    const [base, other] = n % 2 ? this.bases : this.bases.toReversed();
    const written = await this.send(base!, 'POST', '/notes', { title: `probe ${n}` });
    if (written?.status !== 201) return;
    const now = performance.now();
    this.longest = Math.max(this.longest, now - this.last);
    this.last = now;
    const { id } = written.body.note;
    this.ledger.add('notes', id);
    this.ledger.count('probe: written');
    for (const each of [base!, other!]) {
      const read = await this.send(each, 'GET', `/notes/${id}`);
      if (read?.status === 404) this.ledger.violations.push(`stale read: ${id} is missing`);
    }
    await this.follow(other!, id);
  }

  /** The change feed has the note, and its cursor stays valid. */
  private async follow(base: string, id: string): Promise<void> {
    const seen = new Set<string>();
    for (;;) {
      const query = this.cursor === undefined ? '' : `&cursor=${this.cursor}`;
      const page = await this.send(base, 'GET', `/notes/changes?limit=200${query}`);
      if (page?.status === 410) this.ledger.violations.push('stale feed: 410 for a cursor');
      if (page?.status !== 200) return;
      this.cursor = page.body.cursor;
      for (const note of page.body.notes) seen.add(note.id);
      if (!page.body.has_more) break;
    }
    this.ledger.count('probe: followed');
    if (!seen.has(id)) this.ledger.violations.push(`stale feed: ${id} is missing`);
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
      if (response.status >= 500) this.check(method, route, response, answer);
      return { status: response.status, body: answer };
    } catch (error) {
      this.ledger.violations.push(`${method} ${route}: no response (${String(error)})`);
      return undefined;
    }
  }

  private check(method: string, route: string, response: Response, body: any): void {
    this.ledger.count(`probe: ${response.status} ${body.error}`);
    if (response.status !== 503 || typeof body.message !== 'string' || !response.headers.has('retry-after'))
      this.ledger.violations.push(`${method} ${route}: ${response.status} ${JSON.stringify(body)}`);
  }
}
