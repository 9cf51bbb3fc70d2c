import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { type ColumnValues, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { boundedPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import { Addressbook, AddressbookShare, type ShareRole } from '../contacts.entity.js';
import type { StoredRole } from '../contact-access.js';
import type { AddressbookOwnerResponse, AddressbookShareResponse } from './addressbooks.dto.js';

/** An address book with the access of the caller. */
export interface BookRow extends Omit<Addressbook, 'owner_id' | 'tenant_id'> {
  role: StoredRole;
  owner: AddressbookOwnerResponse | null;
  shares: AddressbookShareResponse[];
  /** The number of its last change. */
  head: number;
}

/** A book of a page; beyond the bytes of the page it has only its id. */
export type ListedBook = BookRow & { fits: boolean };

const CONTENT = `book.kind, book.name, book.description, book.color, book.default_country, book.is_default, book.locked_fields,
         book.contacts_count, book.revision, book.created_at, book.updated_at,
         coalesce((SELECT counter.head FROM sync_heads counter WHERE counter.tenant_id = $1 AND counter.user_id = book.id), 0)::float8 AS head,
         CASE WHEN book.owner_id = $2 THEN 'owner' WHEN book.kind = 'global' THEN 'global' ELSE share.role::text END AS role,
         (SELECT json_build_object('id', owner.user_id, 'name', owner.display_name, 'email', owner.email)
            FROM member_profiles owner WHERE owner.tenant_id = $1 AND owner.user_id = book.owner_id) AS owner,
         CASE WHEN book.owner_id = $2 THEN (
           SELECT coalesce(json_agg(json_build_object('user_id', member.user_id, 'name', member.display_name, 'email', member.email,
                                                      'role', shared.role) ORDER BY shared.created_at, member.user_id), '[]')
             FROM addressbook_shares shared
             JOIN member_profiles member ON member.tenant_id = $1 AND member.user_id = shared.user_id
            WHERE shared.tenant_id = $1 AND shared.addressbook_id = book.id) ELSE '[]' END AS shares`;
const FROM = `addressbooks book
    LEFT JOIN addressbook_shares share ON share.tenant_id = $1 AND share.addressbook_id = book.id AND share.user_id = $2`;

const list = workspace.statement<ListedBook>(
  'addressbooks.list',
  boundedPage({
    keys: `SELECT book.id, 1024 + octet_length(book.description) + 512 * CASE WHEN book.owner_id = $2 THEN (
                    SELECT count(*) FROM addressbook_shares shared
                     WHERE shared.tenant_id = $1 AND shared.addressbook_id = book.id) ELSE 0 END AS bytes
             FROM addressbooks book
            WHERE book.tenant_id = $1 AND book.id IN (
              SELECT own.id FROM addressbooks own WHERE own.tenant_id = $1 AND own.owner_id = $2
               UNION ALL
              SELECT shared.addressbook_id FROM addressbook_shares shared WHERE shared.tenant_id = $1 AND shared.user_id = $2
               UNION ALL
              SELECT $1 WHERE $5)
              AND ($3::uuid IS NULL OR book.id > $3) ORDER BY book.id LIMIT $4`,
    order: 'sized.id',
    limit: '$4',
    bytes: '$6',
    columns: 'sized.id, sized.fits, shown.*',
    shown: { columns: CONTENT, from: `${FROM} WHERE book.tenant_id = $1 AND book.id = sized.id` },
  }),
);

const read = workspace.statement<BookRow>(
  'addressbooks.read',
  `SELECT book.id, ${CONTENT} FROM ${FROM} WHERE book.tenant_id = $1 AND book.id = $3
      AND (book.owner_id = $2 OR book.kind = 'global' OR share.role IS NOT NULL)`,
);

// Released at the end of the transaction.
const lockBook = workspace.statement<never>(
  'addressbooks.lock_book',
  `SELECT FROM addressbooks WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
);
// The locks are taken in the order of moves between two books.
const lockDefault = workspace.statement<never>(
  'addressbooks.lock_default',
  `SELECT FROM addressbooks WHERE tenant_id = $1 AND (owner_id = $2 AND is_default OR id = $3) ORDER BY id FOR NO KEY UPDATE`,
);
const lock = workspace.lock('addressbooks.lock', 'addressbooks', 2);

const removeWords = workspace.statement<never>(
  'addressbooks.remove_words',
  `DELETE FROM contact_words WHERE tenant_id = $1 AND addressbook_id = $2`,
);

const removeCounter = workspace.statement<never>(
  'addressbooks.remove_counter',
  `DELETE FROM sync_heads WHERE tenant_id = $1 AND user_id = $2`,
);

const removeBook = workspace.statement<never>(
  'addressbooks.remove',
  `DELETE FROM addressbooks WHERE tenant_id = $1 AND id = $2`,
);

const NOW = () => 'clock_timestamp()';

/** SQL of address books and their shares. */
@Injectable()
export class AddressbooksRepository {
  constructor(private readonly db: Db) {}

  /** Own and shared books, oldest first. @param withGlobal also that of the workspace */
  async list(
    { tenantId, userId }: RequestContext,
    after: readonly [string] | undefined,
    limit: number,
    withGlobal: boolean,
  ): Promise<ListedBook[]> {
    return this.db.query(list, [tenantId, userId, after?.[0] ?? null, limit, withGlobal, PAGE_BYTES]);
  }

  async find(
    { tenantId, userId }: RequestContext,
    id: string,
    reader: Reader = this.db,
  ): Promise<BookRow | null> {
    return (await reader.query(read, [tenantId, userId, id]))[0] ?? null;
  }

  /** Serialises the changes of a user's address books, so that none violates the unique default. */
  async lock(tx: Tx, { tenantId, userId }: RequestContext): Promise<void> {
    await tx.query(lock, [tenantId, userId]);
  }

  async count(tx: Tx, { tenantId, userId: ownerId }: RequestContext): Promise<number> {
    return rowsOf(tx, Addressbook).count({ tenant_id: tenantId, owner_id: ownerId });
  }

  /** @returns its id */
  async insert(
    tx: Tx,
    ctx: RequestContext,
    values: ColumnValues<Addressbook>,
    id: string = uuidv7(),
  ): Promise<string> {
    const { tenantId, userId: ownerId } = ctx;
    if (values.is_default) await this.clearDefault(tx, ctx, id);
    const times = { created_at: NOW, updated_at: NOW };
    await rowsOf(tx, Addressbook).insert({
      kind: 'personal',
      ...values,
      ...times,
      id,
      tenant_id: tenantId,
      owner_id: ownerId,
    });
    return id;
  }

  async update(tx: Tx, ctx: RequestContext, id: string, values: ColumnValues<Addressbook>): Promise<void> {
    const { tenantId } = ctx;
    if (values.is_default) await this.clearDefault(tx, ctx, id);
    const changes = { ...values, revision: () => 'revision + 1', updated_at: NOW };
    await rowsOf(tx, Addressbook).update({ tenant_id: tenantId, id }, changes);
  }

  /** Replaces the shares of a book. */
  async share(
    tx: Tx,
    tenantId: string,
    addressbookId: string,
    roles: ReadonlyMap<string, ShareRole>,
  ): Promise<void> {
    const rows = rowsOf(tx, AddressbookShare);
    const before = new Map(
      (await rows.all({ tenant_id: tenantId, addressbook_id: addressbookId })).map(({ user_id, role }) => [
        user_id,
        role,
      ]),
    );
    for (const userId of before.keys())
      if (!roles.has(userId))
        await rows.delete({ tenant_id: tenantId, addressbook_id: addressbookId, user_id: userId });
    for (const [userId, role] of roles) {
      if (!before.has(userId))
        await rows.insert({
          tenant_id: tenantId,
          addressbook_id: addressbookId,
          user_id: userId,
          role,
          created_at: NOW,
        });
      else if (before.get(userId) !== role)
        await rows.update({ tenant_id: tenantId, addressbook_id: addressbookId, user_id: userId }, { role });
    }
  }

  /** Ends the access of one user. */
  async leave(tx: Tx, { tenantId, userId }: RequestContext, addressbookId: string): Promise<void> {
    await rowsOf(tx, AddressbookShare).delete({
      tenant_id: tenantId,
      addressbook_id: addressbookId,
      user_id: userId,
    });
  }

  /** Deletes a book with its contacts, shares and feed. Locks in the order of all writes: book, counter, contacts. */
  async remove(tx: Tx, { tenantId }: RequestContext, id: string): Promise<void> {
    await tx.query(lockBook, [tenantId, id]);
    await tx.query(removeCounter, [tenantId, id]);
    await tx.query(removeBook, [tenantId, id]);
    await tx.query(removeWords, [tenantId, id]);
  }

  private async clearDefault(tx: Tx, ctx: RequestContext, nextId: string): Promise<void> {
    const { tenantId, userId: ownerId } = ctx;
    await tx.query(lockDefault, [tenantId, ownerId, nextId]);
    const values = { is_default: false, revision: () => 'revision + 1', updated_at: NOW };
    await rowsOf(tx, Addressbook).update(
      { tenant_id: tenantId, owner_id: ownerId, is_default: true },
      values,
    );
  }
}
