import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { foldWords } from './tenants.repository.js';
import type { TenantMember } from './tenants.schema.js';

const BATCH = 500;

const unfolded = workspace.statement<Pick<TenantMember, 'tenant_id' | 'user_id' | 'display_name' | 'email'>>(
  'tenants.unfolded_members',
  `SELECT tenant_id, user_id, display_name, email FROM tenant_members WHERE folded IS NULL LIMIT $1`,
  { reach: 'cell' },
);

// Skips members who were renamed meanwhile: a rename folds the name.
const foldMembers = workspace.statement<never>(
  'tenants.fold_members',
  `UPDATE tenant_members member SET folded = given.folded
     FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS given (tenant_id, user_id, folded)
    WHERE member.tenant_id = given.tenant_id AND member.user_id = given.user_id AND member.folded IS NULL`,
  { reach: 'cell' },
);

/**
 * Folds the names of members that a version without the directory, or with other rules, wrote: SQL cannot fold names as the application does. Runs
 * after each start, and finds such names only after an upgrade.
 */
@Injectable()
export class DirectoryBackfill implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(DirectoryBackfill.name);
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly db: Db) {}

  onApplicationBootstrap(): void {
    this.running = this.db
      .inEachCell(() => this.run())
      .then(() => undefined)
      .catch((error: unknown) =>
        this.logger.warn({ err: error }, 'member names cannot be folded; the next start retries'),
      );
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  /** Resolves when all names are folded. */
  async run(): Promise<void> {
    for (;;) {
      const count = await this.db.tx((tx) => this.foldSome(tx));
      if (count < BATCH || this.stopped) return;
    }
  }

  /** Folds up to BATCH names. @returns their number */
  private async foldSome(tx: Tx): Promise<number> {
    const rows = await tx.query(unfolded, [BATCH]);
    if (rows.length > 0)
      await tx.query(foldMembers, [
        rows.map((row) => row.tenant_id),
        rows.map((row) => row.user_id),
        rows.map((row) => foldWords(row.display_name, row.email)),
      ]);
    return rows.length;
  }
}
