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
import { TaskFolderFeedRepository } from './task-folder-feed.repository.js';
import { TaskFolderChangesEnvelope, TaskFolderIndexEnvelope } from './task-feed.response.js';

/** Synchronisation of task folders. Registered before the controller of `/task_folders/:id`. */
@Controller('task_folders')
export class TaskFolderFeedController implements OnModuleInit {
  constructor(
    private readonly feeds: FeedService,
    private readonly source: TaskFolderFeedRepository,
    private readonly retention: FeedRetention,
  ) {}

  onModuleInit(): void {
    this.retention.register(this.source);
  }

  @Operation({
    tag: 'task folders',
    id: 'taskFolderChanges',
    summary: 'What changed since a cursor',
    description:
      'As for tasks; a folder that is deleted or no longer shared with you comes as a removal. Numbers of both feeds come from one counter: a folder comes before the tasks that somebody sees because of it.',
    errors: [CURSOR_EXPIRED, Errors.validationFailed],
  })
  @ApiOkResponse({ type: TaskFolderChangesEnvelope, description: 'A page of changes.' })
  @Get('changes')
  changes(
    @Ctx() ctx: RequestContext,
    @Query() query: ChangesQuery,
    @ClientGone() gone: AbortSignal,
  ): Promise<JsonReply> {
    return this.feeds.changes(ctx, this.source, query, gone);
  }

  @Operation({
    tag: 'task folders',
    id: 'taskFolderIndex',
    summary: 'Rebuild the folder index',
    description: 'All folders you can see, newest change first; then `cursor` goes to the change feed.',
    errors: [CURSOR_EXPIRED, Errors.validationFailed],
  })
  @ApiOkResponse({ type: TaskFolderIndexEnvelope, description: 'A page of the index.' })
  @Get('index')
  index(@Ctx() ctx: RequestContext, @Query() query: IndexQuery): Promise<JsonReply> {
    return this.feeds.index(ctx, this.source, query);
  }
}
