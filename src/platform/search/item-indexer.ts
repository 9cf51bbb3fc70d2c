import { LRUCache } from 'lru-cache';
import type { DomainEvent, Outbox } from '../events/outbox.js';
import type { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { type IndexedDocument, indexed } from '../../lib/search-text/index.js';
import type { ItemIndexRepository, StaleItem } from './item-index.repository.js';

/** Attempts for an item whose index row other processes write at the same time; then its event is postponed. */
const MAX_ROUNDS = 5;
/** Recently indexed items in the cache. */
const LATELY = 1_000;
const REPAIR_SECONDS = 15;
/** Longest run of a repair; the next run continues from there. */
const REPAIR_MS = 10_000;
/** From the end of one walk through all items to the start of the next. */
const REST_MS = 3_600_000;
const WALK = 5_000;
const ZERO = '00000000-0000-0000-0000-000000000000';
const START = { tenantId: ZERO, itemId: ZERO };

export interface IndexedEvents {
  /** Name of the consumer and of its repair, e.g. `note-search`. */
  readonly name: string;
  /** All event types that change words or readers. (A purge deletes the index row itself.) */
  readonly types: readonly string[];
  /** The frequent type: one read of the item serves a series of such events. */
  readonly often: string;
  /** The member of the payload with the id of the item. */
  readonly item: string;
}

/** Keeps the search index up to date by the events of the items; a periodic repair finds what events missed. */
export abstract class ItemIndexer {
  private position = START;
  private restUntil = 0;
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
    this.jobs.register({
      name: `${name}.repair`,
      everySeconds: REPAIR_SECONDS,
      run: async () => {
        if (Date.now() >= this.restUntil && (await this.repair())) this.restUntil = Date.now() + REST_MS;
      },
    });
  }

  private async handle({ type, tenantId, payload, occurredAt }: DomainEvent): Promise<void> {
    const { revision, [this.events.item]: id } = payload as { revision: number; [item: string]: unknown };
    const last = this.lately.get(id as string);
    // During typing: an earlier read of the item included this change, so no query is needed.
    if (type === this.events.often && last && revision <= last.revision && occurredAt <= last.readAt) return;
    await this.indexItem(tenantId, id as string, revision);
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
        this.lately.set(id, { revision: item.revision, readAt: item.readAt });
        return;
      }
    }
    throw new Error('too many concurrent writers of one row of the search index');
  }

  /**
   * Indexes the items whose index row is missing or stale: items from before the index existed, with words by older rules,
   * or whose event was given up. Continues from the end of the previous run, for at most `REPAIR_MS`.
   * @returns whether it has reached the last item
   */
  async repair(): Promise<boolean> {
    const end = Date.now() + REPAIR_MS;
    for (;;) {
      const items = await this.index.walk(this.position, WALK);
      for (const item of items) {
        if (item.stale) await this.indexItem(item.tenantId, item.itemId);
        this.position = item;
        if (Date.now() >= end) return false;
      }
      if (items.length === 0) {
        this.position = START;
        return true;
      }
    }
  }
}

/** The index row of an item: words, readers, beginning of the text. */
export function indexedItem({ title, labels, body, readers }: StaleItem): Promise<IndexedDocument> {
  return indexed({ readers, title, labels, html: body });
}
