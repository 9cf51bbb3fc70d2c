import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { fitsPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import { FeedRetention } from '../../../platform/sync/feed-retention.js';
import {
  type ChangesRead,
  type FeedOwner,
  type FeedRead,
  type FeedRow,
  type FeedSource,
  highestSeq,
  type IndexRead,
} from '../../../platform/sync/feed-source.js';
import { AddressbookAccess } from '../addressbook-access.js';
import type { BookRole, ContactRow } from '../responses/contact.presenter.js';
import { BOOK_ACCESS, CONTACT_COLUMNS, type StoredRole, VISIBLE_BOOKS } from '../contact-access.js';
import { upsertJson } from './contact-sync.presenter.js';

const COLLECTION = 'contacts';

interface FeedPosition {
  role: StoredRole;
  head: number;
  floor: number;
}

const POSITION = `access.role, coalesce(counter.head, 0)::float8 AS head,
            coalesce((counter.floors->>'${COLLECTION}')::float8, 0) AS floor`;
const COUNTED_BOOK = `${BOOK_ACCESS} access
       LEFT JOIN sync_heads counter ON counter.tenant_id = $1 AND counter.user_id = $3`;

// Most polls find no change: this statement costs a fraction of a page.
const position = workspace.statement<FeedPosition>(
  'contacts.feed_position',
  `SELECT ${POSITION} FROM ${COUNTED_BOOK}`,
  { pipelined: true },
);

type ReadRow = FeedPosition &
  ({ id: null } | (Omit<ContactRow, 'card'> & { seq: number; gone_at: Date | null; card: string | null }));

// $4 the last delivered number, $5 limit, $6 characters. Index contacts_feed. Cards beyond the page are not read.
const page = (name: string, where: string) =>
  workspace.statement<ReadRow>(
    `contacts.${name}`,
    `SELECT ${POSITION}, contact.seq::float8 AS seq, contact.gone_at,
            ${CONTACT_COLUMNS.replace('contact.card::text AS card', 'CASE WHEN contact.fits THEN contact.card::text END AS card')}
       FROM ${COUNTED_BOOK}
       LEFT JOIN LATERAL (
         SELECT listed.*, ${fitsPage('listed.size', '$5', '$6')} AS fits
           FROM (SELECT * FROM contacts item
                  WHERE item.tenant_id = $1 AND item.addressbook_id = $3 AND item.seq > $4 AND item.seq <= counter.head ${where}
                  ORDER BY item.seq LIMIT $5 + 1) listed
         WINDOW page_order AS (ORDER BY listed.seq ROWS UNBOUNDED PRECEDING)) contact ON true
      ORDER BY contact.seq`,
  );
// It is not prepared, so that PostgreSQL plans each call for its list (`contacts.repository.ts`).
const sizes = workspace.statement<{ external_id: string; size: number }>(
  '',
  `SELECT external_id, size FROM contacts
    WHERE tenant_id = $1 AND addressbook_id = $2 AND external_id = ANY ($3) AND gone_at IS NULL`,
);
const changes = page('changes', '');
const firstChanges = page('first_changes', 'AND item.gone_at IS NULL');

const owners = workspace.statement<FeedOwner>(
  'contacts.owners_with_removals',
  `SELECT DISTINCT tenant_id, addressbook_id AS user_id FROM contacts WHERE gone_at < $1 LIMIT $2`,
  { reach: 'cell' },
);

const forget = workspace.statement<{ seq: number }>(
  'contacts.forget_removals',
  `DELETE FROM contacts WHERE tenant_id = $1 AND addressbook_id = $2 AND gone_at < $3 RETURNING seq::float8 AS seq`,
);

const heads = `SELECT coalesce(json_object_agg(counter.user_id, counter.head), '{}')
       FROM ${VISIBLE_BOOKS} AS book
       JOIN sync_heads counter ON counter.tenant_id = $1 AND counter.user_id = book.id`;

/** Contacts as a synchronised collection: each address book has a feed with a counter of its own, under the id of the book. */
@Injectable()
export class ContactFeedRepository implements FeedSource, OnModuleInit {
  readonly collection = COLLECTION;
  readonly plural = ['changes'];
  readonly indexPath = '/apis/v1/contact/addressbooks/{addressbook_id}/contacts/sync';
  readonly numbers = null;
  readonly heads = heads;

  constructor(
    private readonly db: Db,
    private readonly access: AddressbookAccess,
    private readonly retention: FeedRetention,
  ) {}

  onModuleInit(): void {
    this.retention.register(this);
  }

  /** The feed of one address book for a caller; `FeedService` gets `ctx` with the book in place of the user. */
  of(ctx: RequestContext, bookId: string): { ctx: RequestContext; source: FeedSource } {
    const indexPath = this.indexPath.replace('{addressbook_id}', bookId);
    const read = (_: RequestContext, query: ChangesRead) => this.read(ctx, bookId, query);
    const source: FeedSource = {
      collection: this.collection,
      plural: this.plural,
      indexPath,
      numbers: null,
      changes: read,
      index: () => this.index(),
      ownersWithRemovals: (before, limit) => this.ownersWithRemovals(before, limit),
      forgetRemovals: (tx, owner, before) => this.forgetRemovals(tx, owner, before),
    };
    return { ctx: { ...ctx, userId: bookId }, source };
  }

  async changes(ctx: RequestContext, read: ChangesRead): Promise<FeedRead> {
    return this.read(ctx, ctx.userId, read);
  }

  /** Address books have no index walk: the changes without a cursor are all contacts. */
  index(_ctx?: RequestContext, _read?: IndexRead): Promise<FeedRead> {
    return Promise.reject(new Error('contacts have no index'));
  }

  async ownersWithRemovals(before: Date, limit: number): Promise<FeedOwner[]> {
    return this.db.query(owners, [before, limit]);
  }

  async forgetRemovals(tx: Tx, owner: FeedOwner, before: Date): Promise<number | null> {
    return highestSeq(await tx.query(forget, [owner.tenant_id, owner.user_id, before]));
  }

  /** Characters of the contacts with these ids, by external id. */
  async sizes(
    tx: Tx,
    { tenantId }: RequestContext,
    bookId: string,
    ids: string[],
  ): Promise<Map<string, number>> {
    const rows = await tx.query(sizes, [tenantId, bookId, ids]);
    return new Map(rows.map(({ external_id, size }) => [external_id, size]));
  }

  /** @throws ApiError 404 */
  private async read(
    ctx: RequestContext,
    bookId: string,
    { after, limit, liveOnly }: ChangesRead,
  ): Promise<FeedRead> {
    const book = [ctx.tenantId, ctx.userId, bookId];
    if (!liveOnly) {
      const poll = () => this.db.query(position, book);
      const [{ head, floor }] = await this.access.reading(ctx, bookId, poll);
      if (head <= after) return { head, floor, rows: [] };
    }
    const values = [...book, after, limit, PAGE_BYTES];
    const query = () => this.db.query(liveOnly ? firstChanges : changes, values);
    const rows = await this.access.reading(ctx, bookId, query);
    const [{ role: stored, head, floor }] = rows;
    const role = await this.access.roleOf(ctx, stored);
    return { head, floor, rows: rows.flatMap((row) => (row.id === null ? [] : [feedRow(row, role)])) };
  }
}

function feedRow(row: Exclude<ReadRow, { id: null }>, role: BookRole): FeedRow {
  const { seq, card, gone_at: goneAt, external_id, uid, id } = row;
  if (card === null) return { seq, json: null };
  if (goneAt !== null)
    return { seq, json: JSON.stringify({ op: 'delete', id, external_id, uid, removed_at: goneAt }) };
  return { seq, json: upsertJson({ ...row, card }, role) };
}
