import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Db } from '../database/db.js';
import { workspace } from '../database/statement.js';
import { ItemFailures } from '../jobs/sweep.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import type { FeedOwner, FeedSource } from './feed-source.js';
import type { SyncHead } from './sync-heads.js';

const BATCH = 200;
const DAY_MS = 86_400_000;

const lockHead = workspace.statement<Pick<SyncHead, 'head'>>(
  'sync.lock_head',
  `SELECT head FROM sync_heads WHERE tenant_id = $1 AND user_id = $2 FOR UPDATE`,
);

const raiseFloor = workspace.statement<never>(
  'sync.raise_floor',
  `UPDATE sync_heads SET floors = floors || jsonb_build_object($3::text, greatest(coalesce((floors->>$3)::bigint, 0), $4::bigint))
    WHERE tenant_id = $1 AND user_id = $2`,
);

/** Deletes removals after FEED_RETENTION_DAYS. A client with an older cursor rebuilds its index. */
@Injectable()
export class FeedRetention implements OnModuleInit {
  private readonly logger = new Logger(FeedRetention.name);
  /** All collections. */
  readonly sources: FeedSource[] = [];

  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
    private readonly config: Config,
  ) {}

  /** Adds a collection. */
  register(source: FeedSource): void {
    this.sources.push(source);
  }

  onModuleInit(): void {
    const run = async () =>
      void (await this.forget(new Date(Date.now() - this.config.FEED_RETENTION_DAYS * DAY_MS)));
    this.jobs.register({ name: 'forget-feed-removals', everySeconds: 3600, run });
  }

  /**
   * Deletes the removals from before this time. After a failure in one feed, the other feeds are still processed.
   * @returns the number of feeds with a new floor
   * @throws Error after the last feed, when one failed
   */
  async forget(before: Date): Promise<number> {
    let count = 0;
    const failures = new ItemFailures(this.logger, 'the deletion of removals');
    for (const source of this.sources) {
      const failed = new Set<string>();
      for (;;) {
        const owners = await source.ownersWithRemovals(before, BATCH);
        const others = owners.filter((owner) => !failed.has(keyOf(owner)));
        for (const owner of others) {
          const item = { collection: source.collection, ...owner };
          if (await failures.guard(item, () => this.forgetOne(source, owner, before))) count += 1;
          else failed.add(keyOf(owner));
        }
        if (owners.length < BATCH || others.length === 0) break;
      }
    }
    failures.report();
    return count;
  }

  /** Deletes and raises the floor in one transaction, so that no request reads between the two. */
  private async forgetOne(source: FeedSource, owner: FeedOwner, before: Date): Promise<void> {
    const { tenant_id: tenantId, user_id: userId } = owner;
    await this.db.tx(async (tx) => {
      await tx.query(lockHead, [tenantId, userId]);
      const highest = await source.forgetRemovals(tx, owner, before);
      if (highest !== null) await tx.query(raiseFloor, [tenantId, userId, source.collection, highest]);
    });
  }
}

const keyOf = ({ tenant_id, user_id }: FeedOwner): string => `${tenant_id} ${user_id}`;
