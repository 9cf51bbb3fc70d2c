import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { TenantsRepository } from './tenants.repository.js';

const BATCH = 500;

/**
 * Folds the names of members that a version without the directory wrote: SQL cannot fold like the application. Runs after
 * each start, and has work only after an upgrade.
 */
@Injectable()
export class DirectoryBackfill implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(DirectoryBackfill.name);
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly tenants: TenantsRepository,
    private readonly db: Db,
  ) {}

  onApplicationBootstrap(): void {
    this.running = this.run().catch((error: unknown) =>
      this.logger.warn({ err: error }, 'member names cannot be folded; the next start retries'),
    );
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  /** @returns after all names are folded */
  async run(): Promise<void> {
    for (;;) {
      const count = await this.db.tx((tx) => this.tenants.foldSome(tx, BATCH));
      if (count < BATCH || this.stopped) return;
    }
  }
}
