import { Global, Module } from '@nestjs/common';
import { Bus, PgBus } from './bus.js';
import { CommitNotices } from './commit-notices.js';

/** Messages between processes, and the rows that a commit reports. */
@Global()
@Module({
  providers: [PgBus, { provide: Bus, useExisting: PgBus }, CommitNotices],
  exports: [Bus, CommitNotices],
})
export class BusModule {}
