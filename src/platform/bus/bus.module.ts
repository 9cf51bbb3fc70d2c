import { Global, Module } from '@nestjs/common';
import { Bus } from './bus.js';
import { CommitNotices } from './commit-notices.js';

/** Messages between processes, and the rows that a commit reports. */
@Global()
@Module({ providers: [Bus, CommitNotices], exports: [Bus, CommitNotices] })
export class BusModule {}
