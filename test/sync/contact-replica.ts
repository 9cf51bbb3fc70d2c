import { compare } from './compare.ts';
import { Violation } from './model.ts';
import type { Rng } from './rng.ts';
import type { Received, User, World } from './world.ts';

const BOOKS = '/contact/addressbooks';

/** An address book on a device. */
export interface KnownBook {
  /** False for the address book of the workspace, and for one that the user may only read. */
  isWritable: boolean;
  isOwn: boolean;
  /** Undefined: the device starts from the beginning. */
  cursor: string | undefined;
  /** By external_id, which names a contact in removals: a moved contact keeps its id. */
  contacts: Map<string, any>;
}

/** The address books of a user on one device, which follow the change feed of each. */
export class ContactReplica {
  readonly books = new Map<string, KnownBook>();
  private readonly rng: Rng;

  private readonly world: World;
  private readonly user: User;
  private readonly name: string;

  constructor(world: World, user: User, name: string) {
    this.world = world;
    this.user = user;
    this.name = name;
    this.rng = world.rng(`${name} contacts`);
  }

  someBook(rng: Rng): string | undefined {
    const writable = [...this.books].filter(([, { isWritable }]) => isWritable).map(([id]) => id);
    return writable.length === 0 ? undefined : rng.pick(writable);
  }

  someContact(rng: Rng): any {
    const known = [...this.books.values()].flatMap(({ contacts }) => [...contacts.values()].slice(-6));
    return known.length === 0 ? undefined : rng.pick(known);
  }

  /** A random request of a device. */
  async step(): Promise<void> {
    const { rng } = this;
    const ids = [...this.books.keys()];
    if (ids.length === 0 || rng.chance(0.1)) return this.list();
    const id = rng.pick(ids);
    if (rng.chance(0.03)) this.restart(this.books.get(id)!);
    await this.pull(id, rng.chance(0.6) ? rng.int(1, 4) : 100);
  }

  /** Continues until each feed has reported twice that it has no more changes. */
  async settle(): Promise<void> {
    await this.list();
    for (const id of this.books.keys())
      for (let quiet = 0, pages = 0; quiet < 2 && this.books.has(id); pages += 1) {
        if (pages > 5_000) throw new Violation(`${this.name}: the feed of a book does not end`, id);
        quiet = (await this.pull(id, 100)) ? quiet + 1 : 0;
      }
  }

  /** Sends changes of the device and applies the response. A response may be lost, and the request repeated. */
  async exchange(id: string, changes: any[], conflict: string): Promise<void> {
    const book = this.books.get(id)!;
    const distinct = changes.filter(
      (one, n) => changes.findIndex((other) => other.external_id === one.external_id) === n,
    );
    const { cursor } = book;
    const body = { cursor, changes: distinct, conflict, limit: this.rng.pick([1, 5, 200]) };
    const send = () =>
      this.call('POST', `${BOOKS}/${id}/contacts/sync`, body, [
        '200',
        '404 not_found',
        '403 forbidden',
        '410 cursor_expired',
      ]);
    if (this.rng.chance(0.15)) await send();
    const response = await send();
    // Another request of the device may have moved the cursor meanwhile, or the device has begun from the start.
    const isCurrent = this.books.get(id) === book && book.cursor === cursor;
    if (response.status === 200) this.checkResults(distinct, response.body.results);
    if (isCurrent) this.take(id, book, response);
  }

  /** Compares the books with a full read. */
  async check(): Promise<void> {
    const ids = new Set(((await this.listed()) ?? []).map((book) => book.id as string));
    for (const id of this.books.keys())
      if (!ids.has(id)) throw new Violation(`${this.name}: keeps a book that is not listed`, id);
    for (const id of ids) {
      const expected = new Map<string, any>();
      for (let cursor = '', more = true; more;) {
        const path = `${BOOKS}/${id}/contacts/sync?limit=200${cursor}`;
        const { body } = await this.call('GET', path, undefined, ['200']);
        for (const { op, contact } of body.changes) {
          if (op === 'delete')
            throw new Violation(`${this.name}: a removal for a device without contacts`, id);
          expected.set(contact.external_id, contact);
        }
        cursor = `&cursor=${body.cursor}`;
        more = body.has_more;
      }
      compare(`${this.name}: book ${id}`, this.books.get(id)!.contacts, expected, withoutRights);
      this.world.count('contacts compared', expected.size);
    }
  }

  /**
   * Address books without the collected one, which the server fills at any time, also after the last write of a client.
   * @returns undefined after a lost response
   */
  private async listed(): Promise<any[] | undefined> {
    const { status, body } = await this.call('GET', '/contact/useraddressbooks', undefined, ['200']);
    return status === 200 ? body.addressbooks.filter(({ kind }: any) => kind !== 'collected') : undefined;
  }

  private async list(): Promise<void> {
    const books = await this.listed();
    if (!books) return;
    const listed = new Map<string, any>(books.map((book) => [book.id, book]));
    for (const id of this.books.keys()) if (!listed.has(id)) this.books.delete(id);
    for (const [id, { kind, role }] of listed) {
      const rights = { isWritable: kind !== 'global' && role !== 'reader', isOwn: role === 'owner' };
      const known = this.books.get(id) ?? { cursor: undefined, contacts: new Map<string, any>() };
      this.books.set(id, Object.assign(known, rights));
    }
  }

  private restart(book: KnownBook): void {
    book.cursor = undefined;
    book.contacts.clear();
  }

  /** @returns whether the feed has no more changes */
  private async pull(id: string, limit: number): Promise<boolean> {
    const book = this.books.get(id)!;
    const { cursor } = book;
    const query = new URLSearchParams({ limit: `${limit}`, ...(cursor !== undefined && { cursor }) });
    const path = `${BOOKS}/${id}/contacts/sync?${query.toString()}`;
    const response = await this.call('GET', path, undefined, ['200', '404 not_found', '410 cursor_expired']);
    if (this.books.get(id) !== book || book.cursor !== cursor) return false;
    if (response.status === 200 && response.body.changes.length > limit)
      throw new Violation(`${this.name}: more changes than requested`, id);
    this.take(id, book, response);
    return response.status === 200 && !response.body.has_more;
  }

  private take(id: string, book: KnownBook, { status, body }: Received): void {
    if (status === 404) this.books.delete(id);
    if (status === 410) {
      this.world.count('contact 410s');
      this.restart(book);
    }
    if (status !== 200) return;
    const { changes, cursor, next, has_more: more } = body;
    if ((next === null) === more) throw new Violation(`${this.name}: next ${next} with has_more ${more}`, id);
    if (more && changes.length === 0)
      throw new Violation(`${this.name}: more changes, but an empty page`, id);
    const ids = changes.map((change: any) => change.contact?.id ?? change.id);
    if (new Set(ids).size < ids.length)
      throw new Violation(`${this.name}: a page contains an id twice`, ...ids);
    for (const change of changes) this.apply(id, book, change);
    book.cursor = cursor;
  }

  private apply(id: string, { contacts }: KnownBook, { op, contact, external_id: removed }: any): void {
    if (op === 'delete') {
      this.world.count('contact removals');
      contacts.delete(removed);
      return;
    }
    if (contact.addressbook_id !== id)
      throw new Violation(`${this.name}: a contact of another book`, contact.id);
    const known = contacts.get(contact.external_id);
    if (known?.id === contact.id && contact.revision < known.revision)
      throw new Violation(`${this.name}: revision ${contact.revision} after a later one`, contact.id);
    contacts.set(contact.external_id, contact);
  }

  private checkResults(changes: any[], results: any[]): void {
    if (results.length !== changes.length)
      throw new Violation(`${this.name}: ${changes.length} changes, ${results.length} results`);
    for (const [n, { status, external_id: externalId, error }] of results.entries()) {
      if (externalId !== changes[n].external_id)
        throw new Violation(`${this.name}: results in another order`, externalId);
      const rejectable = isNameless(changes[n]) ? [422] : [];
      if (![200, 201, 409, ...rejectable].includes(status))
        throw new Violation(`${this.name}: ${status} ${error}`, externalId);
      this.world.count(`contact change ${status}`);
    }
  }

  private call(method: string, path: string, body: unknown, allowed: string[]): Promise<Received> {
    return this.world.call(this.rng, this.user, method, path, body, allowed);
  }
}

/** True for a change that cannot create the contact again after its deletion on the server: a new contact needs a name. */
const isNameless = ({ contact }: any): boolean =>
  contact !== undefined && !('full_name' in contact || 'emails' in contact || 'phones' in contact);

/** The role of the reader in the book changes without a change of its contacts. */
const withoutRights = ({ permissions: _permissions, ...contact }: any): any => contact;
