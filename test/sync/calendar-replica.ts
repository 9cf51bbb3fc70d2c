import { compare } from './compare.ts';
import { canonical, Violation } from './model.ts';
import type { Rng } from './rng.ts';
import type { Received, User, World } from './world.ts';

/** A calendar on a device. */
interface KnownCalendar {
  /** Null: the device has nothing, or begins again. */
  token: string | null;
  /** Events with their changed instances, by id. */
  items: Map<string, { id: string; event: any; overrides: any[] }>;
}

const OLD_TOKENS = 5;

/** The calendars of a user on one device, which follow `POST /calendar/{id}/sync`. */
export class CalendarReplica {
  readonly calendars = new Map<string, KnownCalendar>();
  private readonly old: { id: string; token: string }[] = [];
  private readonly world: World;
  private readonly user: User;
  private readonly name: string;
  private readonly rng: Rng;

  // No parameter properties: Node runs this file with its types stripped, which does not support them.
  constructor(world: World, user: User, name: string) {
    this.world = world;
    this.user = user;
    this.name = name;
    this.rng = world.rng(`${name} calendars`);
  }

  /** Some event that the device has. */
  someEvent(rng: Rng): { calendarId: string; event: any } | undefined {
    const all = [...this.calendars].flatMap(([calendarId, { items }]) =>
      [...items.values()].slice(-6).map(({ event }) => ({ calendarId, event })),
    );
    return all.length === 0 ? undefined : rng.pick(all);
  }

  someCalendar(rng: Rng): string | undefined {
    const all = [...this.calendars.keys()];
    return all.length === 0 ? undefined : rng.pick(all);
  }

  /** One request. */
  async step(): Promise<void> {
    const { rng } = this;
    const id = this.someCalendar(rng);
    if (id === undefined || rng.chance(0.1)) await this.list();
    else if (rng.chance(0.05) && this.old.length > 0) await this.sendOld();
    else if (rng.chance(0.03)) this.calendars.get(id)!.token = null;
    else await this.pull(id, rng.chance(0.6) ? rng.int(1, 4) : 100);
  }

  /** Continues until each calendar has reported twice that it has no more changes. */
  async settle(): Promise<void> {
    await this.list();
    for (const id of this.calendars.keys())
      for (let quiet = 0, pages = 0; quiet < 2 && this.calendars.has(id); pages += 1) {
        if (pages > 5_000) throw new Violation(`${this.name}: the changes of a calendar do not end`, id);
        quiet = (await this.pull(id, 100)) ? quiet + 1 : 0;
      }
  }

  /** Compares the calendars with a full read. */
  async check(): Promise<void> {
    const listed = await this.listed();
    const ids = new Set(listed.map(({ id }) => id as string));
    for (const id of this.calendars.keys())
      if (!ids.has(id)) throw new Violation(`${this.name}: keeps a calendar that is not listed`, id);
    for (const id of ids) {
      const expected = new Map<string, any>();
      let token: string | null = null;
      for (let more = true; more;) {
        const { body } = await this.sync(id, { sync_token: token, limit: 100 }, ['200']);
        for (const { op, event, overrides } of body.changes) {
          if (op === 'delete')
            throw new Violation(`${this.name}: a removal for a device that has nothing`, id);
          expected.set(event.id, { id: event.id, event, overrides });
        }
        [token, more] = [body.sync_token, body.more];
      }
      compare(`${this.name}: calendar ${id}`, this.calendars.get(id)!.items, expected, withoutRights);
      this.world.count('events compared', expected.size);
    }
  }

  private async listed(): Promise<any[]> {
    const { status, body } = await this.world.call(
      this.rng,
      this.user,
      'GET',
      '/calendar?limit=200',
      undefined,
      ['200'],
    );
    return status === 200 ? body.calendars : [];
  }

  private async list(): Promise<void> {
    const { status, body } = await this.world.call(
      this.rng,
      this.user,
      'GET',
      '/calendar?limit=200',
      undefined,
      ['200'],
    );
    if (status !== 200) return;
    const ids = new Set<string>(body.calendars.map(({ id }: any) => id));
    for (const id of this.calendars.keys()) if (!ids.has(id)) this.calendars.delete(id);
    for (const id of ids)
      if (!this.calendars.has(id)) this.calendars.set(id, { token: null, items: new Map() });
  }

  private async sendOld(): Promise<void> {
    const { id, token } = this.rng.pick(this.old);
    await this.sync(id, { sync_token: token, limit: 100 }, ['200', '404 not_found', '410 cursor_expired']);
  }

  /** @returns whether the feed has no more changes */
  private async pull(id: string, limit: number): Promise<boolean> {
    const known = this.calendars.get(id)!;
    const fresh = known.token === null;
    const response = await this.sync(id, { sync_token: known.token, limit }, [
      '200',
      '404 not_found',
      '410 cursor_expired',
    ]);
    if (response.status === 404) this.calendars.delete(id);
    if (response.status === 410) {
      this.world.count('calendar 410s');
      known.token = null;
    }
    if (response.status !== 200) return false;
    if (fresh) known.items.clear();
    const { changes, sync_token: token, more } = response.body;
    if (changes.length > limit) throw new Violation(`${this.name}: more changes than requested`, id);
    if (more && changes.length === 0) throw new Violation(`${this.name}: more, but no progress`, id);
    for (const change of changes) {
      if (change.op === 'delete') {
        this.world.count('event removals');
        known.items.delete(change.event_id);
      } else
        known.items.set(change.event.id, {
          id: change.event.id,
          event: change.event,
          overrides: change.overrides,
        });
    }
    known.token = token;
    this.old.push({ id, token });
    if (this.old.length > OLD_TOKENS) this.old.shift();
    return !more;
  }

  private sync(id: string, body: object, allowed: string[]): Promise<Received> {
    this.world.count('calendar pages');
    return this.world.call(this.rng, this.user, 'POST', `/calendar/${id}/sync`, body, allowed);
  }
}

/** The role of the reader in the calendar changes without a change of the events. */
function withoutRights({ event, overrides }: any): any {
  const plain = ({ permissions: _permissions, ...rest }: any) => rest;
  const sorted = overrides.map(plain).toSorted((a: any, b: any) => (canonical(a) < canonical(b) ? -1 : 1));
  return { event: plain(event), overrides: sorted };
}
