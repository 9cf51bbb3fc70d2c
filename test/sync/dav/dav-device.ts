import { setTimeout as delay } from 'node:timers/promises';
import { DAV, hrefsOf, NAMESPACES } from '../../support/dav/dav-client.ts';
import { Violation } from '../model.ts';
import type { Rng } from '../rng.ts';
import type { User, World } from '../world.ts';
import { DavCollection, type DavSender, type Kind } from './dav-collection.ts';

/** How a device finds its collection of each kind in the homes. */
const KINDS: Record<Kind, { home: 'calendars' | 'addressbooks'; pattern: RegExp }> = {
  VEVENT: { home: 'calendars', pattern: /name="VEVENT"/ },
  VTODO: { home: 'calendars', pattern: /name="VTODO"/ },
  VCARD: { home: 'addressbooks', pattern: /<D:write\/>/ },
};

/** A CalDAV and CardDAV program of a user: a calendar, a list of tasks and an address book, beside the clients of the HTTP API. */
export class DavDevice implements DavSender {
  readonly name: string;
  readonly rng: Rng;
  readonly world: World;
  private readonly user: User;
  private readonly collections = new Map<Kind, DavCollection>();
  private pace = 0;

  constructor(world: World, user: User) {
    this.world = world;
    this.user = user;
    this.name = `${user.name}.dav`;
    this.rng = world.rng(this.name);
  }

  /** Synchronises and writes at its own pace until it is stopped. */
  async live(stopped: () => boolean): Promise<void> {
    this.pace = this.rng.pick([10, 50, 150]);
    while (!stopped()) {
      const collection = await this.some(this.rng.pick(['VEVENT', 'VTODO', 'VCARD']));
      if (collection) await (this.rng.chance(0.5) ? collection.synchronise() : collection.write());
      await delay(this.rng.int(0, this.pace));
    }
  }

  async settle(): Promise<void> {
    for (const collection of this.collections.values())
      for (let pages = 0; this.holds(collection) && !(await collection.synchronise()); pages += 1)
        if (pages > 2_000) throw new Violation(`${this.name}: the changes do not end`, collection.path);
  }

  async check(): Promise<void> {
    for (const collection of this.collections.values()) if (this.holds(collection)) await collection.check();
  }

  /**
   * @param allowed 404 and 503 are allowed too: other clients delete collections, and the service may be overloaded
   * @returns status 0 without a response
   */
  async send(
    method: string,
    path: string,
    body: string | undefined,
    allowed: readonly number[],
    headers: Record<string, string> = {},
  ): Promise<{ status: number; text: string }> {
    const { world, user } = this;
    const line = `${this.name} ${method} ${path} ${JSON.stringify(headers)}`;
    const began = performance.now();
    let [status, text] = [0, ''];
    try {
      const base = this.rng.pick(world.site.bases);
      [status, text] = await world.patiently(async (signal) => {
        const response = await fetch(base + path, {
          method,
          headers: { authorization: `Bearer ${user.token}`, depth: '1', ...headers },
          ...(body !== undefined && { body }),
          signal,
        });
        return [response.status, await response.text()];
      });
    } catch (error) {
      if (!world.disturbed) throw new Violation(`no response to ${line}: ${String(error)}`, path);
    }
    world.log(`${line} -> ${status}`);
    world.count(`dav status ${status}`);
    if (status === 503) {
      const { error } = JSON.parse(text) as { error: string };
      if (!world.mayReject(`503 ${error}`, line, began)) throw new Violation(`${line} -> 503 ${text}`, path);
      await delay(20);
      return this.send(method, path, body, allowed, headers);
    }
    if (status === 404) await this.forgetDeleted(path);
    else if (status !== 0 && !allowed.includes(status))
      throw new Violation(`${line} -> ${status} ${text}\n${body}`, path);
    return { status, text };
  }

  private holds(collection: DavCollection): boolean {
    return this.collections.get(collection.kind) === collection;
  }

  /** Another client may have deleted the collection of a path. */
  private async forgetDeleted(path: string): Promise<void> {
    for (const [kind, collection] of this.collections)
      if (path.startsWith(collection.path) && !(await this.pathsOf(kind)).includes(collection.path))
        this.collections.delete(kind);
  }

  private async some(kind: Kind): Promise<DavCollection | undefined> {
    const held = this.collections.get(kind);
    if (held) return held;
    const paths = await this.pathsOf(kind);
    if (paths.length === 0) return undefined;
    const collection = new DavCollection(this, this.rng.pick(paths), kind);
    this.collections.set(kind, collection);
    return collection;
  }

  /** The writable collections of a kind. */
  private async pathsOf(kind: Kind): Promise<string[]> {
    const { home, pattern } = KINDS[kind];
    const body = `<D:propfind ${NAMESPACES}><D:prop><C:supported-calendar-component-set/><D:current-user-privilege-set/></D:prop></D:propfind>`;
    const path = `${DAV}/${home}/${this.user.id}/`;
    const { text } = await this.send('PROPFIND', path, body, [207]);
    return text
      .split('</D:response>')
      .filter((response) => pattern.test(response) && response.includes('<D:write/>'))
      .flatMap((response) => hrefsOf(`${response}</D:response>`))
      .filter((href) => href !== path && !/(inbox|outbox)\/$/.test(href));
  }
}
