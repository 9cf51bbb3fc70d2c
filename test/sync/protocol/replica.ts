import { Violation } from '../model.ts';
import type { Rng } from '../rng.ts';
import { type Received, readCursor, type User, type World } from '../world.ts';

export interface Collection {
  /** Name of its feeds, and of the list in their responses. */
  readonly name: 'notes' | 'note_folders' | 'tasks' | 'task_folders';
  readonly path: string;
  readonly reasons: readonly string[];
  /** The part that summaries omit. */
  readonly long?: 'content' | 'description';
  /** Whether the model knows the access to its items while requests overlap. */
  readonly guarded: boolean;
}

export const NOTES: Collection = {
  name: 'notes',
  path: '/notes',
  reasons: ['unshared', 'purged'],
  long: 'content',
  guarded: true,
};
export const FOLDERS: Collection = {
  name: 'note_folders',
  path: '/note_folders',
  reasons: ['deleted'],
  guarded: false,
};
export const TASKS: Collection = {
  name: 'tasks',
  path: '/tasks',
  reasons: ['unshared', 'purged'],
  long: 'description',
  guarded: false,
};
export const TASK_FOLDERS: Collection = {
  name: 'task_folders',
  path: '/task_folders',
  reasons: ['unshared', 'deleted'],
  guarded: false,
};

const REMOVAL = 'deleted,id,reason,removed,removed_at';
const OLD_CURSORS = 30;

interface Walk {
  listed: Set<string>;
  /** Cursor of the next page; undefined: the first page. */
  next: string | undefined;
  /** Cursors for the change feed, one from each page. */
  checkpoints: string[];
  /** The cursor after the changes that were read during the walk. */
  changes: string | undefined;
}

/**
 * One collection by change feed and index walks, in all orders that the protocol allows. The library reads it in one order only, so this client
 * stays beside it.
 */
export class Replica {
  readonly items = new Map<string, any>();
  private cursor: string | undefined;
  private walk: Walk | undefined;
  /** Whether the device has all items that existed at the cursor; false in the first pages of a feed read from the beginning. */
  private complete = false;
  private old: string[] = [];
  private readonly world: World;
  private readonly user: User;
  readonly of: Collection;
  private readonly rng: Rng;
  private readonly name: string;

  constructor(world: World, user: User, of: Collection, name: string) {
    this.world = world;
    this.of = of;
    this.name = `${name}/${of.name}`;
    // Requests are traced under the device's name.
    this.user = { ...user, name: this.name };
    this.rng = world.rng(this.name);
  }

  /** A random request of a device. */
  async step(): Promise<void> {
    const { rng } = this;
    if (this.walk) {
      if (rng.chance(0.08)) this.startWalk('restarted midway');
      else if (this.walk.checkpoints.length > 0 && rng.chance(0.25)) await this.changesDuringWalk(this.walk);
      else await this.walkOn(this.walk);
    } else if (this.cursor === undefined) {
      if (rng.chance(0.5)) this.startWalk('nothing yet');
      else await this.fromTheBeginning();
    } else {
      const what = rng.weighted({ on: 86, forget: 2, walk: 3, foreign: 2, broken: 1, old: 6 });
      if (what === 'forget') this.forgetCursor();
      else if (what === 'walk') this.startWalk('by choice');
      else if (what === 'foreign') await this.foreign();
      else if (what === 'broken') await this.sendInvalid(`${this.cursor}x`);
      else if (what === 'old' && this.complete && this.old.length > 0)
        await this.changes(rng.pick(this.old), 0);
      else await this.changes(this.cursor, rng.chance(0.05) ? 1 : 0);
    }
  }

  /** Continues until the feed has reported twice that it has no more records. */
  async settle(): Promise<void> {
    for (let quiet = 0, pages = 0; quiet < 2; pages += 1) {
      if (pages > 5_000) throw new Violation(`${this.name}: the feed does not end`);
      if (this.walk) await this.walkOn(this.walk);
      else if (this.cursor === undefined) await this.fromTheBeginning();
      else quiet = (await this.changes(this.cursor, 0)) ? quiet + 1 : 0;
    }
  }

  private forgetCursor(): void {
    this.world.log(`${this.name}: forgets its cursor`);
    this.cursor = undefined;
  }

  private startWalk(why: string): void {
    this.world.log(`${this.name}: walks the index, ${why}`);
    this.world.count('walks');
    this.walk = { listed: new Set(), next: undefined, checkpoints: [], changes: undefined };
  }

  /** Reads the feed without a cursor: all items, for a device that has deleted its own. */
  private async fromTheBeginning(): Promise<void> {
    this.world.count('feeds from the beginning');
    const response = await this.ask('changes', undefined, 0);
    if (response.status !== 200) return;
    this.items.clear();
    this.complete = false;
    const removal = this.page(response).find((item) => item.removed);
    if (removal) throw new Violation(`${this.name}: a removal for a device that has nothing`, removal.id);
    this.take(response);
  }

  /** @returns whether the feed has no more changes */
  private async changes(cursor: string, wait: number): Promise<boolean> {
    const response = await this.ask('changes', cursor, wait);
    if (response.status === 410) {
      this.cursor = undefined;
      this.startWalk('because of 410');
    }
    if (response.status !== 200) return false;
    if (readCursor(response.body.cursor).seq < readCursor(cursor).seq)
      throw new Violation(`${this.name}: the cursor goes back`);
    this.take(response);
    return !response.body.has_more;
  }

  private take(response: Received): void {
    for (const item of this.page(response)) this.apply(item, response);
    this.cursor = response.body.cursor as string;
    if (!response.body.has_more) this.complete = true;
    this.old.push(this.cursor);
    if (this.old.length > OLD_CURSORS) this.old.splice(this.rng.int(0, this.old.length - 2), 1);
    const shared = this.world.cursors.get(this.of.name) ?? [];
    shared[this.rng.int(0, 40)] = `${this.user.id} ${this.cursor}`;
    this.world.cursors.set(this.of.name, shared);
  }

  private async walkOn(walk: Walk): Promise<void> {
    const response = await this.ask('index', walk.next, 0);
    if (response.status === 410) {
      if (walk.next === undefined) throw new Violation(`${this.name}: 410 for the first page of an index`);
      this.startWalk('because of 410 within a walk');
    }
    if (response.status !== 200) return;
    const { cursor, changes_cursor: checkpoint, has_more: more } = response.body;
    const since = readCursor(checkpoint).seq;
    if (walk.checkpoints[0] !== undefined && readCursor(walk.checkpoints[0]).seq !== since)
      throw new Violation(`${this.name}: the checkpoint moves during a walk`);
    for (const item of this.page(response)) {
      if (item.removed) throw new Violation(`${this.name}: a removal in an index`, item.id);
      if (walk.listed.has(item.id) && walk.changes === undefined)
        throw new Violation(`${this.name}: the walk lists ${item.id} twice`, item.id);
      this.apply(item, response);
      walk.listed.add(item.id);
    }
    walk.checkpoints.push(checkpoint, cursor);
    if (more) {
      if (walk.next !== undefined && readCursor(cursor).seq >= readCursor(walk.next).seq)
        throw new Violation(`${this.name}: the walk makes no progress`);
      walk.next = cursor;
      return;
    }
    if (readCursor(cursor).seq !== since || readCursor(cursor).mode !== 0)
      throw new Violation(`${this.name}: the walk does not end with its checkpoint`);
    for (const id of this.items.keys()) if (!walk.listed.has(id)) this.items.delete(id);
    this.cursor = walk.changes ?? this.rng.pick(walk.checkpoints);
    this.complete = true;
    this.walk = undefined;
  }

  /** A client may read changes before its walk has ended, without loss. */
  private async changesDuringWalk(walk: Walk): Promise<void> {
    const from = walk.changes ?? this.rng.pick(walk.checkpoints);
    const response = await this.ask('changes', from, 0);
    if (response.status === 410) this.startWalk('because of 410 for its checkpoint');
    if (response.status !== 200) return;
    this.world.count('changes read during walks');
    for (const item of this.page(response)) {
      this.apply(item, response);
      if (item.removed) walk.listed.delete(item.id);
      else walk.listed.add(item.id);
    }
    walk.changes = response.body.cursor as string;
  }

  private apply(item: any, { began }: Received): void {
    const { access, nameless } = this.world;
    if (item.removed) {
      if (this.of.guarded && !access.mayHaveHadAccess(item.id, this.user.id) && !nameless)
        throw new Violation(`${this.name}: removal of a note that was never seen`, item.id);
      this.items.delete(item.id);
      return;
    }
    // The feed may deliver a new note to its owner before the response to its creation names it.
    const isUnnamed = item.role === 'owner' && !access.isKnown(item.id);
    if (this.of.guarded && !isUnnamed && access.certainlyHadNoAccess(item.id, this.user.id, began))
      throw new Violation(`${this.name}: is shown ${item.id} without access`, item.id);
    const had = this.items.get(item.id);
    const same = had?.revision === item.revision && had?.created_at === item.created_at;
    const part = this.of.long;
    if (part !== undefined && same && !(part in item) && part in had)
      this.items.set(item.id, { ...item, [part]: had[part] });
    else this.items.set(item.id, item);
  }

  private async foreign(): Promise<void> {
    const others = (this.world.cursors.get(this.of.name) ?? []).filter(
      (entry) => entry && !entry.startsWith(this.user.id),
    );
    if (others.length > 0) await this.sendInvalid(this.rng.pick(others).split(' ')[1] as string);
    else if (this.cursor !== undefined) await this.sendInvalid(`c1.e30.${'A'.repeat(16)}`);
  }

  /** Sends a cursor of another user; sometimes the device loses its own too. */
  private async sendInvalid(cursor: string): Promise<void> {
    const response = await this.ask('changes', cursor, 0, true);
    if (response.status === 200) throw new Violation(`${this.name}: accepted the foreign cursor ${cursor}`);
    if (response.status === 410 && this.rng.chance(0.5))
      this.startWalk('because of 410 for a foreign cursor');
  }

  private async ask(kind: 'changes' | 'index', cursor: string | undefined, wait: number, foreign = false) {
    const { rng } = this;
    const query = new URLSearchParams();
    if (cursor !== undefined) query.set('cursor', cursor);
    const limit = rng.chance(0.6) ? rng.int(1, 5) : 100;
    query.set('limit', `${limit}`);
    if (rng.chance(0.4)) query.set('include', rng.pick(['summary', 'content']));
    if (wait > 0) query.set('wait', `${wait}`);
    const path = `${this.of.path}/${kind}?${query.toString()}`;
    const response = await this.world.call(rng, this.user, 'GET', path, undefined, [
      '200',
      '410 cursor_expired',
    ]);
    this.world.count(`${kind} pages`);
    if (response.status === 410) await this.checkExpiry(response, kind, cursor, foreign);
    if (response.status === 200) this.checkPage(response, limit);
    return response;
  }

  private page({ body }: Received): any[] {
    return body[this.of.name] as any[];
  }

  private checkPage(response: Received, limit: number): void {
    const { body } = response;
    const items = this.page(response);
    if (items.length > limit) throw new Violation(`${this.name}: more records than requested`);
    if (body.has_more && items.length === 0) throw new Violation(`${this.name}: more, but no progress`);
    if (body.next !== (body.has_more ? body.cursor : null))
      throw new Violation(`${this.name}: next does not fit has_more`);
    if (new Set(items.map((item) => item.id)).size < items.length)
      throw new Violation(`${this.name}: a page contains an id twice`, ...items.map((item) => item.id));
    for (const item of items) {
      if (!item.removed) continue;
      this.world.count('removals');
      if (Object.keys(item).sort().join(',') !== REMOVAL || !this.of.reasons.includes(item.reason))
        throw new Violation(`${this.name}: removal with ${JSON.stringify(item)}`, item.id);
    }
  }

  /** Expired only when a removal after the cursor has really been forgotten. */
  private async checkExpiry(
    { body }: Received,
    kind: 'changes' | 'index',
    cursor: string | undefined,
    foreign: boolean,
  ): Promise<void> {
    this.world.count('410s');
    if (body.reset_required !== true || body.hint !== `GET /apis/v1${this.of.path}/index`)
      throw new Violation(`${this.name}: 410 without its hint: ${JSON.stringify(body)}`);
    if (foreign || cursor === undefined) return;
    const [row] = await this.world.sql<{ floor: string }>(
      `SELECT coalesce(floors->>$3, '0') AS floor FROM sync_heads WHERE tenant_id = $1 AND user_id = $2`,
      [this.user.tenantId, this.user.id, this.of.name],
    );
    const { mode, seq, since } = readCursor(cursor);
    const position = kind === 'index' || mode === 1 ? since : Math.max(seq, since);
    if (Number(row?.floor ?? 0) <= position)
      throw new Violation(`${this.name}: 410 at ${position} though the floor is ${row?.floor}`);
  }
}
