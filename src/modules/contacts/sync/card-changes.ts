import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { revisionTag } from '../../../platform/concurrency/expected-revision.js';
import type { ChangesRead, FeedRead, FeedSource } from '../../../platform/sync/feed-source.js';
import { FeedService } from '../../../platform/sync/feed.service.js';
import { SyncCursors } from '../../../platform/sync/sync-cursors.js';
import type { AccessedBook } from '../addressbook-access.js';
import { CONTACTS } from '../contacts.resource.js';
import { ContactFeedRepository } from './contact-feed.repository.js';

/** A change of an address book; `etag` is null where the contact is gone. */
export interface CardChange {
  externalId: string;
  etag: string | null;
}

interface Row {
  head: number;
  floor: number;
  seq: number | null;
  id: string;
  external_id: string;
  revision: number;
  is_gone: boolean;
}

// $3 the last delivered number, $4 limit, $5 only contacts that exist. Index contacts_feed.
const changes = workspace.statement<Row>(
  'contacts.card_changes',
  `SELECT coalesce(counter.head, 0)::float8 AS head,
          coalesce((counter.floors->>'contacts')::float8, 0) AS floor,
          item.seq::float8 AS seq, item.id, item.external_id, item.revision, item.gone_at IS NOT NULL AS is_gone
     FROM (SELECT) AS always
     LEFT JOIN sync_heads counter ON counter.tenant_id = $1 AND counter.user_id = $2
     LEFT JOIN LATERAL (
       SELECT seq, id, external_id, revision, gone_at FROM contacts
        WHERE tenant_id = $1 AND addressbook_id = $2 AND seq > $3 AND seq <= counter.head AND (NOT $5 OR gone_at IS NULL)
        ORDER BY seq LIMIT $4) item ON true
    ORDER BY item.seq`,
);

/** The change feed of address books without content. Its cursors are those of `GET /contact/addressbooks/{id}/contacts/sync`. */
@Injectable()
export class CardChanges {
  constructor(
    private readonly feeds: FeedService,
    private readonly feed: ContactFeedRepository,
    private readonly signed: SyncCursors,
    private readonly db: Db,
  ) {}

  /**
   * Changes since a cursor; without one, all contacts.
   * @throws ApiError 410 `cursor_expired`
   */
  async readSince(
    ctx: RequestContext,
    { id: bookId, head }: AccessedBook,
    cursor: string | null,
    limit: number,
  ): Promise<{ changes: CardChange[]; cursor: string; hasMore: boolean }> {
    const { ctx: owner, source } = this.feed.of(ctx, bookId);
    const isCurrent = cursor !== null && this.signed.read(owner, source.collection, cursor)?.seq === head;
    if (isCurrent) return { changes: [], cursor, hasMore: false };
    const named: FeedSource = {
      ...source,
      changes: (_: RequestContext, read) => this.read(ctx.tenantId, bookId, read),
    };
    const query = { limit, include: 'summary' as const, wait: 0, ...(cursor !== null && { cursor }) };
    const { json } = await this.feeds.changes(owner, named, query, NEVER);
    const page = JSON.parse(json.toString()) as {
      changes: CardChange[];
      cursor: string;
      has_more: boolean;
    };
    return { changes: page.changes, cursor: page.cursor, hasMore: page.has_more };
  }

  /** The cursor of the state of a book after the change with this number. */
  cursorAt(ctx: RequestContext, bookId: string, head: number): string {
    const position = { mode: 'changes', seq: head, since: head } as const;
    return this.signed.write({ ...ctx, userId: bookId }, this.feed.collection, position);
  }

  private async read(
    tenantId: string,
    bookId: string,
    { after, limit, liveOnly }: ChangesRead,
  ): Promise<FeedRead> {
    const rows = await this.db.query(changes, [tenantId, bookId, after, limit + 1, liveOnly]);
    const { head = 0, floor = 0 } = rows[0] ?? {};
    const found = rows.flatMap((row, index) => {
      const { seq, id, external_id: externalId, revision, is_gone: isGone } = row;
      if (seq === null) return [];
      const change: CardChange = {
        externalId,
        etag: isGone ? null : revisionTag(CONTACTS.kind, id, revision),
      };
      return [{ seq, json: index < limit ? JSON.stringify(change) : null }];
    });
    return { head, floor, rows: found };
  }
}

const NEVER = new AbortController().signal;
