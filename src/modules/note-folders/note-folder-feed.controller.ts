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
import { NoteFolderFeedRepository } from './note-folder-feed.repository.js';
import { NoteFolderChangesEnvelope, NoteFolderIndexEnvelope } from './note-folder.response.js';

/** Synchronisation of note folders. Registered before the controller of `/note_folders/:id`. */
@Controller('note_folders')
export class NoteFolderFeedController implements OnModuleInit {
  constructor(
    private readonly feeds: FeedService,
    private readonly source: NoteFolderFeedRepository,
    private readonly retention: FeedRetention,
  ) {}

  onModuleInit(): void {
    this.retention.register(this.source);
  }

  @Operation({
    tag: 'note folders',
    id: 'noteFolderChanges',
    summary: 'What changed since a cursor',
    description:
      'As for notes. Numbers of both feeds come from one counter: what belongs together keeps its order.',
    errors: [CURSOR_EXPIRED, Errors.validationFailed],
  })
  @ApiOkResponse({ type: NoteFolderChangesEnvelope, description: 'A page of changes.' })
  @Get('changes')
  changes(
    @Ctx() ctx: RequestContext,
    @Query() query: ChangesQuery,
    @ClientGone() gone: AbortSignal,
  ): Promise<JsonReply> {
    return this.feeds.changes(ctx, this.source, query, gone);
  }

  @Operation({
    tag: 'note folders',
    id: 'noteFolderIndex',
    summary: 'Rebuild the folder index',
    description: 'All your folders, newest change first; then `cursor` goes to the change feed.',
    errors: [CURSOR_EXPIRED, Errors.validationFailed],
  })
  @ApiOkResponse({ type: NoteFolderIndexEnvelope, description: 'A page of the index.' })
  @Get('index')
  index(@Ctx() ctx: RequestContext, @Query() query: IndexQuery): Promise<JsonReply> {
    return this.feeds.index(ctx, this.source, query);
  }
}
