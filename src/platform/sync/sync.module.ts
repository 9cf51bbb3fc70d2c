import { Global, Module } from '@nestjs/common';
import { FeedRetention } from './feed-retention.js';
import { FeedService } from './feed.service.js';
import { HeadChanges } from './head-changes.js';
import { HeadWatch } from './head-watch.js';
import { SyncCursors } from './sync-cursors.js';
import { SyncStateController } from './state/sync-state.controller.js';
import { SyncState } from './state/sync-state.service.js';

@Global()
@Module({
  controllers: [SyncStateController],
  providers: [SyncCursors, HeadChanges, HeadWatch, FeedService, FeedRetention, SyncState],
  exports: [SyncState, SyncCursors, FeedService, FeedRetention, HeadChanges, HeadWatch],
})
export class SyncModule {}
