import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { DomainEvent, Outbox } from '../events/outbox.js';
import { ItemFailures } from '../jobs/item-failures.js';
import type { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { type IndexedDocument, indexed } from '../../lib/search-text/index.js';
import {
  type ItemIndexRepository,
  itemKey,
  type ItemRevision,
  type StaleItem,
} from './item-index.repository.js';

/** Attempts for an item whose index row other processes write at the same time; then its event is postponed. */
const MAX_ROUNDS = 5;
/** Recently indexed items in the cache. */
const LATELY = 1_000;
/** Items of one read and one write. More of them stay in memory long enough to survive the young collections. */
const PART = 25;
/** Bytes of the bodies of one part. */
const PART_BYTES = 512 * 1024;
const REPAIR_SECONDS = 15;
/** Longest run of a repair; the next run continues from there. */
const REPAIR_MS = 10_000;
/** From the end of one walk through all items to the start of the next. */
const REST_MS = 3_600_000;
const WALK = 5_000;
const ZERO = '00000000-0000-0000-0000-000000000000';
const START = { tenantId: ZERO, itemId: ZERO };

/** Progress of the repair in one cell. */
interface Walk {
  position: { tenantId: string; itemId: string };
  restUntil: number;
}

export interface IndexedEvents {
  /** Name of the consumer and of its repair, e.g. `note-search`. */
  readonly name: string;
  /** All event types that change words or readers. (A purge deletes the index row itself.) */
  readonly types: readonly string[];
  /** The types that only a new revision causes: one read of the item serves a series of such events. */
  readonly often: readonly string[];
  /** The member of the payload with the id of the item. */
  readonly item: string;
}

/** Keeps the search index up to date by the events of the items; a periodic repair finds what events missed. */
export abstract class ItemIndexer {
  private readonly logger = new Logger('Search');
  /** For each cell: its job runs by itself. */
  private readonly walks = new Map<string, Walk>();
  private readonly lately = new LRUCache<string, { revision: number; readAt: Date }>({ max: LATELY });

  constructor(
    private readonly index: ItemIndexRepository,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
    private readonly events: IndexedEvents,
  ) {}

  onModuleInit(): void {
    const { name, types } = this.events;
    for (const type of types) this.outbox.subscribe(type, name, (event) => this.handle(event));
    this.outbox.prepareBatches(name, (events) => this.prepare(events));
    this.jobs.register({
      name: `${name}.repair`,
      everySeconds: REPAIR_SECONDS,
      run: async () => {
        const walk = this.walk();
        if (Date.now() >= walk.restUntil && (await this.repair())) walk.restUntil = Date.now() + REST_MS;
      },
    });
  }

  private async handle(event: DomainEvent): Promise<void> {
    if (this.isIndexed(event)) return;
    const { tenantId, id, revision } = this.itemOf(event);
    await this.indexItem(tenantId, id, revision);
  }

  /** Whether an earlier read of the item included the change of this event, so that no query is needed. */
  private isIndexed(event: DomainEvent): boolean {
    const item = this.itemOf(event);
    const last = this.lately.get(itemKey(item));
    return (
      this.events.often.includes(event.type) &&
      last !== undefined &&
      item.revision <= last.revision &&
      event.occurredAt <= last.readAt
    );
  }

  private itemOf({ tenantId, payload }: DomainEvent): ItemRevision {
    const { revision, [this.events.item]: id } = payload as { revision: number; [item: string]: unknown };
    return { tenantId, id: id as string, revision };
  }

  /**
   * Indexes the items of many events by two statements for each {@link PART}, before the events are delivered. An item that another
   * process writes at the same time is left to the delivery of its event.
   */
  private async prepare(events: readonly DomainEvent[]): Promise<void> {
    const newest = new Map<string, ItemRevision>();
    for (const event of events) {
      if (!this.events.often.includes(event.type) || this.isIndexed(event)) continue;
      const item = this.itemOf(event);
      const key = itemKey(item);
      if (item.revision >= (newest.get(key)?.revision ?? 0)) newest.set(key, item);
    }
    if (newest.size < 2) return;
    const items = [...newest.values()];
    for (let from = 0; from < items.length; from += PART)
      await this.indexPart(items.slice(from, from + PART));
  }

  private async indexPart(part: readonly ItemRevision[]): Promise<void> {
    const items = await this.index.staleOf(part, PART_BYTES);
    const rows = [];
    for (const item of items) {
      rows.push({ item, document: await indexedItem(item) });
      // A part takes several milliseconds. Requests run between its documents.
      await setImmediate();
    }
    if (rows.length === 0) return;
    for (const item of await this.index.putAll(rows))
      this.lately.set(itemKey(item), { revision: item.revision, readAt: item.readAt });
  }

  /**
   * Indexes the current version of an item, regardless of the event: events come at least once and in any order.
   * @param revision of the event; null: any difference to the item is repaired
   */
  async indexItem(tenantId: string, id: string, revision: number | null = null): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const item = await this.index.stale(tenantId, id, revision);
      if (!item) return;
      if (await this.index.put(tenantId, item, await indexedItem(item))) {
        this.lately.set(itemKey({ tenantId, id }), { revision: item.revision, readAt: item.readAt });
        return;
      }
    }
    throw new Error('too many concurrent writers of one row of the search index');
  }

  /** The walk through the cell that the caller works in. */
  private walk(): Walk {
    const { cell } = this.index;
    const known = this.walks.get(cell);
    if (known) return known;
    const walk = { position: START, restUntil: 0 };
    this.walks.set(cell, walk);
    return walk;
  }

  /**
   * Indexes the items whose index row is missing or stale: items from before the index existed, with words by older rules,
   * or whose event was given up. Continues from the end of the previous run in this cell, for at most `REPAIR_MS`. An item that
   * fails is left to the next walk.
   * @returns whether it has reached the last item
   */
  async repair(): Promise<boolean> {
    const walk = this.walk();
    const end = Date.now() + REPAIR_MS;
    const failures = new ItemFailures(this.logger, 'the index of an item');
    for (;;) {
      const items = await this.index.walk(walk.position, WALK);
      for (const item of items) {
        const { tenantId, itemId, stale } = item;
        if (stale) await failures.guard({ tenantId, itemId }, () => this.indexItem(tenantId, itemId));
        walk.position = item;
        if (Date.now() >= end) return false;
      }
      if (items.length === 0) {
        walk.position = START;
        return true;
      }
    }
  }
}

/** The index row of an item: words, readers, beginning of the text. */
export function indexedItem({ title, labels, body, readers }: StaleItem): Promise<IndexedDocument> {
  return indexed({ readers, title, labels, html: body });
}
