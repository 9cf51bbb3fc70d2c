import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { TenantsRepository } from './tenants.repository.js';

const BATCH = 500;

/**
 * Folds, after the start, the names of members that a version without the directory has written: SQL cannot fold as the
 * application does. Nothing to do but once after an upgrade.
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
      this.logger.warn({ err: error }, 'names not folded, will be at the next start'),
    );
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  /** @returns when all names are folded */
  async run(): Promise<void> {
    for (;;) {
      const count = await this.db.tx((tx) => this.tenants.foldSome(tx, BATCH));
      if (count < BATCH || this.stopped) return;
    }
  }
}
