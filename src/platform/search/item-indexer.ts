import { LRUCache } from 'lru-cache';
import type { DomainEvent, Outbox } from '../events/outbox.js';
import type { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { type IndexedDocument, indexed } from '../../lib/search-text/index.js';
import type { ItemIndexRepository, StaleItem } from './item-index.repository.js';

/** Looks at an item whose index row others write at the same time; then its event is postponed. */
const MAX_ROUNDS = 5;
/** Items indexed lately that are remembered. */
const LATELY = 1_000;
const REPAIR_SECONDS = 15;
/** A repair gives way to other jobs, and to a shutdown, after this long, and goes on at its next turn. */
const REPAIR_MS = 10_000;
/** From the end of one walk through all items to the beginning of the next. */
const REST_MS = 3_600_000;
const WALK = 5_000;
const ZERO = '00000000-0000-0000-0000-000000000000';
const START = { tenantId: ZERO, itemId: ZERO };

export interface IndexedEvents {
  /** Of the consumer and its repair, as in `note-search`. */
  readonly name: string;
  /** Everything that changes what is found or by whom. (A purge takes the index row with it.) */
  readonly types: readonly string[];
  /** The one that comes often, of which a run is served by one look. */
  readonly often: string;
  /** The member of their payload that names the item. */
  readonly item: string;
}

/** Keeps the search index of items up to date: with their events, and in time with whatever these have missed. */
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
    // Somebody types: one look at the item has served the changes up to it, without asking the database again.
    if (type === this.events.often && last && revision <= last.revision && occurredAt <= last.readAt) return;
    await this.indexItem(tenantId, id as string, revision);
  }

  /**
   * Indexes an item as it is now, whatever the event said: events may come twice and in any order, and those of an item
   * that is being typed into are served by one look at it.
   * @param revision of the event; without one, anything that differs from the item is mended
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
    throw new Error('a row of the search index is being written by too many at once');
  }

  /**
   * Indexes the items whose index row is missing or stale: those from before there was an index, under older rules, or
   * whose event was given up. Walks on from where it stopped, for as long as a turn lasts.
   * @returns whether it has come to the end of all items
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

/** The words of an item, for everyone who may find it, and its beginning. */
export function indexedItem({ title, labels, body, readers }: StaleItem): Promise<IndexedDocument> {
  return indexed({ readers, title, labels, html: body });
}
