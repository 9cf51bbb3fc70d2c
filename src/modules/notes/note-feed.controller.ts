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
import { NoteChangesEnvelope, NoteIndexEnvelope } from './note-feed.response.js';
import { NoteFeedRepository } from './note-feed.repository.js';

/** Synchronisation of notes. Registered before the controller of `/notes/:id`. */
@Controller('notes')
export class NoteFeedController implements OnModuleInit {
  constructor(
    private readonly feeds: FeedService,
    private readonly source: NoteFeedRepository,
    private readonly retention: FeedRetention,
  ) {}

  onModuleInit(): void {
    this.retention.register(this.source);
  }

  @Operation({
    tag: 'notes',
    id: 'noteChanges',
    summary: 'What changed since a cursor',
    description:
      'Every note that changed, once, as it is now; notes that were purged or are no longer shared with you come as removals. Without a cursor: everything there is. Keep `cursor` for the next call. `wait` holds an empty answer back until something changes. 410: walk the index again.',
    errors: [CURSOR_EXPIRED, Errors.validationFailed],
  })
  @ApiOkResponse({ type: NoteChangesEnvelope, description: 'A page of changes.' })
  @Get('changes')
  changes(
    @Ctx() ctx: RequestContext,
    @Query() query: ChangesQuery,
    @ClientGone() gone: AbortSignal,
  ): Promise<JsonReply> {
    return this.feeds.changes(ctx, this.source, query, gone);
  }

  @Operation({
    tag: 'notes',
    id: 'noteIndex',
    summary: 'Rebuild the note index',
    description:
      'All notes you can see, those in the trash included, newest change first, without content unless asked for. Go on with `cursor` while `has_more`; then `cursor` (and `changes_cursor` on every page) goes to the change feed.',
    errors: [CURSOR_EXPIRED, Errors.validationFailed],
  })
  @ApiOkResponse({ type: NoteIndexEnvelope, description: 'A page of the index.' })
  @Get('index')
  index(@Ctx() ctx: RequestContext, @Query() query: IndexQuery): Promise<JsonReply> {
    return this.feeds.index(ctx, this.source, query);
  }
}
