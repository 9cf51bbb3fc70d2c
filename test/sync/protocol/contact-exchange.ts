import { compare } from '../compare.ts';
import { Violation } from '../model.ts';
import type { Rng } from '../rng.ts';
import type { Received, User, World } from '../world.ts';

const BOOKS = '/contact/addressbooks';

/** An address book that the user may write. */
interface KnownBook {
  /** Undefined: the client starts from the beginning. */
  cursor: string | undefined;
  /** By external_id, which names a contact in removals: a moved contact keeps its id. */
  contacts: Map<string, any>;
}

/** The contacts of a user by requests that both send changes and read those of others. The library sends each change by itself. */
export class ContactExchange {
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

  /** A random request. */
  async step(): Promise<void> {
    const { rng } = this;
    const ids = [...this.books.keys()];
    if (ids.length === 0 || rng.chance(0.1)) return this.list();
    const id = rng.pick(ids);
    if (rng.chance(0.03)) this.restart(this.books.get(id)!);
    await this.exchange(id, [], 'server');
  }

  /** Continues until each feed has reported twice that it has no more changes. */
  async settle(): Promise<void> {
    await this.list();
    for (const id of this.books.keys())
      for (let quiet = 0, pages = 0; quiet < 2 && this.books.has(id); pages += 1) {
        if (pages > 5_000) throw new Violation(`${this.name}: the feed of a book does not end`, id);
        quiet = (await this.exchange(id, [], 'server')) ? quiet + 1 : 0;
      }
  }

  /**
   * Sends changes and applies the response. A response may be lost, and the request repeated.
   * @returns whether the feed has no more changes
   */
  async exchange(id: string, changes: any[], conflict: string): Promise<boolean> {
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
    if (distinct.length > 0 && this.rng.chance(0.15)) await send();
    const response = await send();
    // Another request of the client may have moved the cursor meanwhile, or the client has begun from the start.
    const isCurrent = this.books.get(id) === book && book.cursor === cursor;
    if (response.status === 200) this.checkResults(distinct, response.body.results);
    if (isCurrent) this.take(id, book, response);
    return isCurrent && response.status === 200 && !response.body.has_more;
  }

  /** @param expected the contacts of an address book, by external_id */
  check(id: string, expected: Map<string, any>): void {
    const book = this.books.get(id);
    if (book) compare(`${this.name}: book ${id}`, book.contacts, expected, withoutRights);
  }

  private async list(): Promise<void> {
    const { status, body } = await this.call('GET', '/contact/useraddressbooks', undefined, ['200']);
    if (status !== 200) return;
    const writable = body.addressbooks.filter(isWritable);
    const ids = new Set<string>(writable.map((book: any) => book.id));
    for (const id of this.books.keys()) if (!ids.has(id)) this.books.delete(id);
    for (const id of ids)
      if (!this.books.has(id)) this.books.set(id, { cursor: undefined, contacts: new Map() });
  }

  private restart(book: KnownBook): void {
    book.cursor = undefined;
    book.contacts.clear();
  }

  private take(id: string, book: KnownBook, { status, body }: Received): void {
    if (status === 404 || status === 403) this.books.delete(id);
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

/** False for the collected address book, that of the workspace, and one that the user may only read. */
export const isWritable = ({ kind, role }: any): boolean =>
  kind !== 'collected' && kind !== 'global' && role !== 'reader';

/** The role of the reader in the book changes without a change of its contacts. */
export const withoutRights = ({ permissions: _permissions, ...contact }: any): any => contact;
