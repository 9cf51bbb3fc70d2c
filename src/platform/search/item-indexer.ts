import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { NIL } from 'uuid';
import type { Db } from '../database/db.js';
import type { DomainEvent, Outbox } from '../events/outbox.js';
import { ItemFailures } from '../jobs/sweep.js';
import type { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { type IndexedDocument, indexDocument } from '../../lib/search-text/index.js';
import { ItemIndexRepository, itemKey, type ItemRevision, type StaleItem } from './item-index.repository.js';
import type { SearchTables } from './search-tables.js';
import { waitForSlice } from '../../lib/turns/index.js';

/** Attempts for an item whose index row other processes write at the same time. After them, its event is postponed. */
const MAX_ROUNDS = 5;
/** Size of the cache of recently indexed items. */
const MAX_RECENT = 1_000;
/** Items of one read and one write. The texts of larger batches survive the collections of the young generation. */
const BATCH = 25;
/** Bytes of the bodies of one batch. */
const BATCH_BYTES = 512 * 1024;
const REPAIR_SECONDS = 15;
/** Longest run of a repair; the next run continues from there. */
const REPAIR_MS = 10_000;
/** Time from the end of one walk through all items to the start of the next. */
const REST_MS = 3_600_000;
/** Items that one statement of a walk compares. */
const SLICE = 5_000;
const START = { tenantId: NIL, itemId: NIL };

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
  /** The types of events that mean a new revision: one read of the item indexes it for a series of such events. */
  readonly often: readonly string[];
}

/** Updates the search index on events of the items. A periodic repair finds items that the events missed. */
export abstract class ItemIndexer {
  private readonly logger = new Logger('Search');
  /** The key is the cell, because the job runs in each cell. */
  private readonly walks = new Map<string, Walk>();
  private readonly recent = new LRUCache<string, { revision: number; readAt: Date }>({ max: MAX_RECENT });

  readonly index: ItemIndexRepository;

  constructor(
    db: Db,
    readonly tables: SearchTables,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
    private readonly events: IndexedEvents,
  ) {
    this.index = new ItemIndexRepository(db, tables);
  }

  onModuleInit(): void {
    const { name, types } = this.events;
    for (const type of types) this.outbox.subscribe(type, name, (event) => this.handle(event));
    this.outbox.prepareBatches(name, (events) => this.prepare(events));
    this.jobs.register({
      name: `${name}.repair`,
      everySeconds: REPAIR_SECONDS,
      run: async () => {
        if (Date.now() >= this.walk().restUntil) await this.repair();
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
    const last = this.recent.get(itemKey(item));
    return (
      this.events.often.includes(event.type) &&
      last !== undefined &&
      item.revision <= last.revision &&
      event.occurredAt <= last.readAt
    );
  }

  private itemOf({ tenantId, payload }: DomainEvent): ItemRevision {
    const { revision, [this.tables.item]: id } = payload as { revision: number; [item: string]: unknown };
    return { tenantId, id: id as string, revision };
  }

  /**
   * Indexes the items of many events with two statements for each {@link BATCH}, before the events are delivered. An item that another
   * process writes at the same time is indexed when its event is delivered.
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
    for (let from = 0; from < items.length; from += BATCH)
      await this.indexBatch(items.slice(from, from + BATCH));
  }

  private async indexBatch(batch: readonly ItemRevision[]): Promise<void> {
    const items = await this.index.staleOf(batch, BATCH_BYTES);
    const rows = [];
    for (const item of items) {
      rows.push({ item, document: await indexedItem(item) });
      // A batch takes several milliseconds. Requests are served between its documents.
      await waitForSlice();
    }
    if (rows.length === 0) return;
    for (const item of await this.index.putAll(rows))
      this.recent.set(itemKey(item), { revision: item.revision, readAt: item.readAt });
  }

  /**
   * Indexes the current version of an item, regardless of the event: events come at least once and in any order.
   * @param revision of the event; null: any difference to the item is repaired
   */
  async indexItem(tenantId: string, id: string, revision: number | null = null): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const item = await this.index.findStale(tenantId, id, revision);
      if (!item) return;
      if (await this.index.put(tenantId, item, await indexedItem(item))) {
        this.recent.set(itemKey({ tenantId, id }), { revision: item.revision, readAt: item.readAt });
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
   * Indexes the items whose index row is missing or stale: items that are older than the index, were indexed by older rules, or
   * whose event was parked. Continues from the end of the previous run in this cell, for at most `REPAIR_MS`. The next walk retries
   * items that fail.
   * @returns whether it has reached the last item
   * @throws AggregateError after the last item of the run, when items failed
   */
  async repair(): Promise<boolean> {
    const failures = new ItemFailures(this.logger, 'the indexing of an item');
    const isComplete = await this.continueWalk(this.walk(), failures);
    failures.report();
    return isComplete;
  }

  private async continueWalk(walk: Walk, failures: ItemFailures): Promise<boolean> {
    const end = Date.now() + REPAIR_MS;
    for (;;) {
      const items = await this.index.walk(walk.position, SLICE);
      for (const item of items) {
        const { tenantId, itemId, stale } = item;
        if (stale) await failures.guard({ tenantId, itemId }, () => this.indexItem(tenantId, itemId));
        walk.position = item;
        if (Date.now() >= end) return false;
      }
      if (items.length === 0) {
        walk.position = START;
        walk.restUntil = Date.now() + REST_MS;
        return true;
      }
    }
  }
}

/** The index row of an item: words, readers, beginning of the text. */
export function indexedItem({ title, labels, body, readers }: StaleItem): Promise<IndexedDocument> {
  return indexDocument({ readers, title, labels, html: body });
}
