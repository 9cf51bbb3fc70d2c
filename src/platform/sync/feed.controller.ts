import { Inject, type OnModuleInit, Query, type Type } from '@nestjs/common';
import { Ctx, type RequestContext } from '../context/request-context.js';
import { DisconnectSignal } from '../http/abort-signal.js';
import { Endpoint } from '../http/endpoint.js';
import type { JsonReply } from '../http/json-reply.js';
import { FeedRetention } from './feed-retention.js';
import type { FeedSource } from './feed-source.js';
import { ChangesQuery, CURSOR_EXPIRED, type FeedMeta, type IndexMeta, IndexQuery } from './feed.dto.js';
import { FeedService } from './feed.service.js';

/** The feeds of a collection and their documentation. */
export interface FeedDocs<Changes, Index> {
  source: Type<FeedSource>;
  tag: string;
  /** Prefix of the operation ids: `<item>Changes` and `<item>Index`. */
  item: string;
  changes: { type: Type<Changes>; description: string };
  index: { type: Type<Index>; summary: string; description: string };
}

interface Feeds<Changes, Index> extends OnModuleInit {
  changes(ctx: RequestContext, query: ChangesQuery, gone: AbortSignal): Promise<JsonReply<Changes>>;
  index(ctx: RequestContext, query: IndexQuery): Promise<JsonReply<Index>>;
}

/**
 * The routes `changes` and `index` of a synchronised collection, for a controller to extend. Register it before the
 * controller that has `/:id`.
 */
export function FeedController<Changes extends FeedMeta, Index extends IndexMeta>(
  docs: FeedDocs<Changes, Index>,
): Type<Feeds<Changes, Index>> {
  const { tag, item, changes, index } = docs;
  const errors = [CURSOR_EXPIRED];

  class FeedRoutes implements Feeds<Changes, Index> {
    constructor(
      private readonly feeds: FeedService,
      @Inject(docs.source) private readonly source: FeedSource,
      private readonly retention: FeedRetention,
    ) {}

    onModuleInit(): void {
      this.retention.register(this.source);
    }

    @Endpoint('GET changes', {
      tag,
      id: `${item}Changes`,
      summary: 'List the changes since a cursor',
      description: changes.description,
      errors,
      response: [changes.type, 'A page of changes.'],
    })
    changes(@Ctx() ctx: RequestContext, @Query() query: ChangesQuery, @DisconnectSignal() gone: AbortSignal) {
      return this.feeds.changes<Changes>(ctx, this.source, query, gone);
    }

    @Endpoint('GET index', {
      tag,
      id: `${item}Index`,
      summary: index.summary,
      description: index.description,
      errors,
      response: [index.type, 'A page of the index.'],
    })
    index(@Ctx() ctx: RequestContext, @Query() query: IndexQuery) {
      return this.feeds.index<Index>(ctx, this.source, query);
    }
  }
  return FeedRoutes;
}
