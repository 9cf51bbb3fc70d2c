import { Controller, Get, type OnModuleInit, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { ClientGone } from '../../platform/http/abort-signal.js';
import { Operation } from '../../platform/http/api-docs.js';
import { Errors } from '../../platform/http/errors.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { FeedRetention } from '../../platform/sync/feed-retention.js';
import { ChangesQuery, IndexQuery } from '../../platform/sync/feed.dto.js';
import { FeedService } from '../../platform/sync/feed.service.js';
import { CURSOR_EXPIRED } from '../../platform/sync/sync.errors.js';
import { TaskChangesEnvelope, TaskIndexEnvelope } from './task-feed.response.js';
import { TaskFeedRepository } from './task-feed.repository.js';

/** Synchronisation of tasks. Registered before the controller of `/tasks/:id`. */
@Controller('tasks')
export class TaskFeedController implements OnModuleInit {
  constructor(
    private readonly feeds: FeedService,
    private readonly source: TaskFeedRepository,
    private readonly retention: FeedRetention,
  ) {}

  onModuleInit(): void {
    this.retention.register(this.source);
  }

  @Operation({
    tag: 'tasks',
    id: 'taskChanges',
    summary: 'What changed since a cursor',
    description:
      'Every task that changed, once, as it is now; tasks that were purged or that you no longer see come as removals. `include=summary` leaves descriptions out. Titles of what a task refers to are those of now; a task does not come anew when they change. Otherwise as for notes.',
    errors: [CURSOR_EXPIRED, Errors.validationFailed],
  })
  @ApiOkResponse({ type: TaskChangesEnvelope, description: 'A page of changes.' })
  @Get('changes')
  changes(
    @Ctx() ctx: RequestContext,
    @Query() query: ChangesQuery,
    @ClientGone() gone: AbortSignal,
  ): Promise<JsonReply> {
    return this.feeds.changes(ctx, this.source, query, gone);
  }

  @Operation({
    tag: 'tasks',
    id: 'taskIndex',
    summary: 'Rebuild the task index',
    description:
      'All tasks you can see, those in the trash included, newest change first, without descriptions unless asked for (`include=content`). Go on with `cursor` while `has_more`; then `cursor` (and `changes_cursor` on every page) goes to the change feed.',
    errors: [CURSOR_EXPIRED, Errors.validationFailed],
  })
  @ApiOkResponse({ type: TaskIndexEnvelope, description: 'A page of the index.' })
  @Get('index')
  index(@Ctx() ctx: RequestContext, @Query() query: IndexQuery): Promise<JsonReply> {
    return this.feeds.index(ctx, this.source, query);
  }
}
