import { created, discarded, edited, removed, restored, retried, visible } from './rows/changes.js';
import type { Channel } from './tabs/channel.js';
import type { CollectionName, Collections, LocalItem } from './collections.js';
import { copyOf } from './copy-of.js';
import { ItemError } from './item-error.js';
import { LiveItems, type Query, readItems } from './live.js';
import { randomUuid } from './random-uuid.js';
import type { Row } from './rows/row.js';
import type { Rows } from './rows/rows.js';

/**
 * Objects of the user on this device. Reads need no connection. A write resolves when it is stored on the device; it is sent as soon as there
 * is a connection, in the order in which an object was changed.
 */
export class Collection<Name extends CollectionName> {
  constructor(
    private readonly rows: Rows,
    private readonly channel: Channel,
    private readonly feed: string,
  ) {}

  /** Reads an object. @returns undefined for an unknown or deleted one */
  async get(id: string): Promise<LocalItem<Name> | undefined> {
    const row = await this.rows.read((tx) => tx.get(this.feed, id));
    return row && (visible(row, this.rows.rulesOf(this.feed)) as LocalItem<Name> | undefined);
  }

  /** Reads the objects that match, once. */
  list(query: Query<LocalItem<Name>> = {}): Promise<LocalItem<Name>[]> {
    return readItems(this.rows, this.feed, query);
  }

  /**
   * Calls a listener with the result of a query, now and whenever it changes.
   * @returns a function that ends it
   */
  live(
    query: Query<LocalItem<Name>>,
    listener: (items: LocalItem<Name>[]) => void,
    onError: (error: unknown) => void = (error) => console.error(error),
  ): () => void {
    const items = new LiveItems(this.rows, this.channel, this.feed, query, listener, onError);
    return () => items.close();
  }

  /**
   * @param id default: a new one
   * @returns the id
   */
  async create(fields: Collections[Name]['create'], id: string = randomUuid()): Promise<string> {
    await this.save(id, (row) => {
      if (row) throw new Error(`The id ${id} is in use.`);
      return created(this.feed, id, copyOf(fields));
    });
    return id;
  }

  /**
   * @param seen the item that the caller edited, such as the one that a form was filled with. Later changes of the item are merged.
   *   Default: the item as it is now
   * @throws ItemError
   */
  update(id: string, fields: Collections[Name]['update'], seen?: LocalItem<Name>): Promise<void> {
    return this.save(id, (row) =>
      edited(this.present(row), copyOf(fields), this.rows.rulesOf(this.feed), seen),
    );
  }

  /** Moves the object into the trash, where its collection has one. @throws ItemError */
  remove(id: string): Promise<void> {
    return this.save(id, (row) => removed(this.present(row), this.rows.rulesOf(this.feed)));
  }

  /** Takes the object out of the trash. @throws ItemError */
  restore(id: string): Promise<void> {
    return this.save(id, (row) => {
      if (!row) throw new ItemError('not_found');
      return restored(row, this.rows.rulesOf(this.feed));
    });
  }

  /** Sends a change again that the service has rejected. */
  retry(id: string): Promise<void> {
    return this.save(id, (row) => row && retried(row));
  }

  /** Discards the unsent changes of an object. */
  discard(id: string): Promise<void> {
    return this.save(id, (row) => row && discarded(row));
  }

  private async save(id: string, step: (row: Row | undefined) => Row | undefined): Promise<void> {
    await this.rows.change((edit) => edit.step(this.feed, id, step));
    this.channel.send({ kind: 'saved' });
  }

  private present(row: Row | undefined): Row {
    const item = row && visible(row, this.rows.rulesOf(this.feed));
    if (!item) throw new ItemError('not_found');
    if (item['deleted'] === true) throw new ItemError('deleted');
    return row;
  }
}
