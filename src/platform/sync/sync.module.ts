import { Global, Module } from '@nestjs/common';
import { FeedRetention } from './feed-retention.js';
import { FeedService } from './feed.service.js';
import { HeadWatch } from './head-watch.js';
import { SyncCursors } from './sync-cursors.js';

@Global()
@Module({
  providers: [SyncCursors, HeadWatch, FeedService, FeedRetention],
  exports: [SyncCursors, FeedService, FeedRetention, HeadWatch],
})
export class SyncModule {}
