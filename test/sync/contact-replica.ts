import type { Client } from '../support/client.ts';
import { Violation } from './model.ts';
import type { Rng } from './rng.ts';

/** An address book as a device has it, and the changes that the device has not sent yet. */
export class ContactReplica {
  /** By external_id, which names a contact in removals: a moved contact keeps its id. */
  readonly contacts = new Map<string, any>();
  private cursor: string | undefined;
  /** Number of resets after an expired cursor. */
  resets = 0;

  constructor(
    readonly name: string,
    readonly bookId: string,
    private readonly api: Client,
    private readonly rng: Rng,
    private readonly unique: () => string,
  ) {}

  private get path(): string {
    return `/contact/addressbooks/${this.bookId}/contacts`;
  }

  /** Sends some changes and applies the response; the response may be lost, and the request repeated. */
  async exchange(): Promise<void> {
    const changes = Array.from({ length: this.rng.int(0, 3) }, () => this.change());
    const body = {
      cursor: this.cursor,
      changes: changes.filter(
        (one, n) => changes.findIndex((other) => other.external_id === one.external_id) === n,
      ),
      conflict: this.rng.pick(['server', 'client', 'merge']),
      limit: this.rng.pick([1, 5, 200]),
    };
    const send = () => this.api.post(`${this.path}/sync`, body);
    if (this.rng.chance(0.15)) await send();
    const { status, body: response } = await send();
    if (status === 410) return this.reset();
    if (status !== 200) throw new Violation(`${this.name}: ${status} ${JSON.stringify(response)}`);
    if (response.results.length !== body.changes.length)
      throw new Violation(`${this.name}: ${body.changes.length} changes, ${response.results.length} results`);
    for (const [n, { status: outcome, external_id, error }] of response.results.entries()) {
      if (external_id !== body.changes[n]?.external_id)
        throw new Violation(`${this.name}: results in another order`);
      if (![200, 201, 409].includes(outcome))
        throw new Violation(`${this.name}: ${outcome} ${error}`, external_id);
    }
    this.apply(response);
  }

  /** Reads one page of changes. @returns true when there are more */
  async read(): Promise<boolean> {
    const query = new URLSearchParams({ limit: `${this.rng.pick([1, 3, 200])}` });
    if (this.cursor !== undefined) query.set('cursor', this.cursor);
    const { status, body } = await this.api.get(`${this.path}/sync?${query.toString()}`);
    if (status === 410) {
      this.reset();
      return true;
    }
    if (status !== 200) throw new Violation(`${this.name}: ${status} ${JSON.stringify(body)}`);
    this.apply(body);
    return body.has_more;
  }

  /** One write without the feed, as a browser makes it. */
  async write(targetId: string): Promise<void> {
    const [externalId] = this.some();
    if (externalId === undefined) return;
    const path = `${this.path}/${encodeURIComponent(externalId)}`;
    const { status, body } = await this.rng.pick([
      () => this.api.put(path, { job_title: this.unique() }),
      () => this.api.put(path, { notes: this.unique(), base_revision: 1 }),
      () => this.api.delete(path),
      () => this.api.post(`${path}/move`, { target_addressbook_id: targetId, on_conflict: 'rename' }),
    ])();
    if (![200, 404, 409].includes(status))
      throw new Violation(`${this.name}: ${status} ${JSON.stringify(body)}`);
  }

  private change(): any {
    const [externalId, contact] = this.some();
    if (externalId === undefined || this.rng.chance(0.3))
      return { op: 'upsert', external_id: `p${this.rng.int(0, 60)}`, contact: { full_name: this.unique() } };
    if (this.rng.chance(0.2))
      return { op: 'delete', external_id: externalId, base_revision: contact.revision };
    const field = this.rng.pick(['full_name', 'job_title', 'notes']);
    const fields = { [field]: this.unique(), emails: [`${this.unique()}@example.com`] };
    return { op: 'upsert', external_id: externalId, base_revision: contact.revision, contact: fields };
  }

  private some(): [string | undefined, any] {
    const known = [...this.contacts.values()];
    const contact = known.length === 0 ? undefined : this.rng.pick(known);
    return [contact?.external_id, contact];
  }

  private apply({ changes, cursor, next, has_more }: any): void {
    if ((next === null) === has_more)
      throw new Violation(`${this.name}: next ${next} with has_more ${has_more}`);
    const ids = changes.map((each: any) => each.contact?.id ?? each.id);
    if (new Set(ids).size < ids.length)
      throw new Violation(`${this.name}: an id comes twice in a page`, ...ids);
    for (const { op, contact, external_id } of changes) {
      if (op === 'delete') {
        this.contacts.delete(external_id);
        continue;
      }
      if (contact.addressbook_id !== this.bookId)
        throw new Violation(`${this.name}: of another book`, contact.id);
      const known = this.contacts.get(contact.external_id);
      if (known?.id === contact.id && contact.revision < known.revision)
        throw new Violation(`${this.name}: revision ${contact.revision} after a later one`, contact.id);
      this.contacts.set(contact.external_id, contact);
    }
    this.cursor = cursor;
  }

  private reset(): void {
    this.contacts.clear();
    this.cursor = undefined;
    this.resets += 1;
  }
}
