import { Injectable } from '@nestjs/common';
import { prefixRange } from '../../lib/contact-card/index.js';
import { SCRIPT_DIGITS } from '../../lib/text/index.js';
import { fitsPage, PAGE_BYTES } from '../../platform/bounded-pages/page-bytes.js';
import type { RequestContext, WorkspaceKey } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { type Statement, workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { type AccessedRow, BOOK_ACCESS, CONTACT_COLUMNS } from './contact-access.js';
import type { ContactInsert, ContactUpdate } from './model/contact-values.js';
import type { ContactRow } from './responses/contact.presenter.js';
import type { Addressbook, Contact } from './contacts.entity.js';

/** Filters of a list. */
export interface ContactFilter {
  /** Beginnings of words that the contact has. */
  prefixes: string[];
  /** Words and keys that the contact has. */
  keys: string[];
  /** The digits of a number without an international form, which is among the keys. */
  number?: string | null;
  kind: string | null;
  /** Whether only cards of members are listed. */
  members?: boolean;
}

export type ContactSort = 'name' | 'updated';
/** `fits`: false for a contact beyond the bytes of the page, without content. */
export type ListedRow = AccessedRow & { sort_key: string; seq: number; fits: boolean };

/** A row of a page whose address book has contacts. */
export type Listed = ListedRow & ContactRow;
export const isListed = (row: ListedRow): row is Listed => row.id !== null;

// $5 limit, $6 kind, $9 members only, $7 and $8 the last row of the page before, $10 bytes. Index contacts_by_name or contacts_feed. With
// words, the primary key of contact_words finds the contacts with the first word ($11 to $12); a filter checks the other words ($13, $14).
// The last digits of a number and words of names are words too: $15 are the digits of a whole number, or of a national number.
function listStatement(sort: ContactSort, hasWords: boolean): Statement<ListedRow> {
  const order = (row: string): string => (sort === 'name' ? `${row}.sort_key, ${row}.id` : `${row}.seq DESC`);
  const after =
    sort === 'name'
      ? '($7::text IS NULL OR (contact.sort_key, contact.id) > ($7, $8::uuid))'
      : '($7::text IS NULL OR contact.seq < $7::bigint) AND $8::uuid IS NULL';
  const words = `AND contact.id IN (SELECT listed.contact_id FROM contact_words listed WHERE listed.tenant_id = $1
              AND listed.addressbook_id = $4 AND listed.word >= $11 AND listed.word < $12)
             AND contact.words @> $13::text[]
             AND NOT EXISTS (SELECT FROM unnest($14::text[]) AS prefix
                  WHERE NOT EXISTS (SELECT FROM unnest(contact.words) AS word WHERE starts_with(word, prefix)))
             AND ($15::text IS NULL OR EXISTS (
               SELECT FROM json_array_elements(contact.card->'phones') AS phone
                WHERE regexp_replace(translate(phone->>'value', '${SCRIPT_DIGITS.from}', '${SCRIPT_DIGITS.to}'), '\\D', '', 'g') = $15
                   OR length($15) > 7 AND phone->>'e164' LIKE '%' || ltrim($15, '0')))`;
  return workspace.statement<ListedRow>(
    `contacts.list_${sort}${hasWords ? '_words' : ''}`,
    `SELECT access.role, access.default_country, page.id, page.sort_key, page.seq::float8 AS seq, page.fits, shown.*
       FROM ${BOOK_ACCESS} access
       LEFT JOIN LATERAL (
         SELECT sized.*, ${fitsPage('sized.bytes', '$5', '$10')} AS fits FROM (
           SELECT contact.id, contact.sort_key, contact.seq, 1024 + contact.size AS bytes FROM contacts contact
            WHERE contact.tenant_id = $1 AND contact.addressbook_id = $4 AND contact.gone_at IS NULL
              AND ($6::contact_kind IS NULL OR contact.kind = $6) AND (NOT $9 OR contact.linked_user_id IS NOT NULL) AND ${after} ${hasWords ? words : ''}
            ORDER BY ${order('contact')} LIMIT $5) sized
         WINDOW page_order AS (ORDER BY ${order('sized')} ROWS UNBOUNDED PRECEDING)) page ON true
       LEFT JOIN LATERAL (
         SELECT ${CONTACT_COLUMNS.replace('contact.id, ', '')} FROM contacts contact
          WHERE page.fits AND contact.tenant_id = $1 AND contact.id = page.id OFFSET 0) shown ON true
      ORDER BY ${order('page')}`,
    { onReplica: true },
  );
}

/** The statements of lists, without and with words. */
export const LISTS = {
  name: { plain: listStatement('name', false), words: listStatement('name', true) },
  updated: { plain: listStatement('updated', false), words: listStatement('updated', true) },
};

const read = workspace.statement<AccessedRow>(
  'contacts.read',
  `SELECT access.role, access.default_country, ${CONTACT_COLUMNS}
     FROM ${BOOK_ACCESS} access
     LEFT JOIN contacts contact ON contact.tenant_id = $1 AND contact.addressbook_id = $3 AND contact.external_id = $4
      AND contact.gone_at IS NULL`,
  { pipelined: true },
);

// They are not prepared, so that PostgreSQL plans each call for its list. While the statistics are those of a smaller table, as during
// the first import, a generic plan compares each contact of the address book with each value.
const byIds = (column: 'external_id' | 'uid' | 'id') =>
  workspace.statement<ContactRow>(
    '',
    `SELECT ${CONTACT_COLUMNS} FROM contacts contact
      WHERE contact.tenant_id = $1 AND contact.addressbook_id = $2 AND contact.${column} = ANY ($3) AND contact.gone_at IS NULL`,
  );
const BY = { external_id: byIds('external_id'), uid: byIds('uid'), id: byIds('id') };

const head = workspace.statement<{ head: number }>(
  'contacts.head',
  `SELECT head::float8 AS head FROM sync_heads WHERE tenant_id = $1 AND user_id = $2`,
  { pipelined: true },
);

const lockBook = workspace.statement<Pick<Addressbook, 'contacts_count'>>(
  'contacts.lock_book',
  `SELECT contacts_count FROM addressbooks WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`,
);

const idsAfter = workspace.statement<Pick<Contact, 'id'>>(
  'contacts.ids_after',
  `SELECT id FROM contacts WHERE tenant_id = $1 AND addressbook_id = $2 AND id > $3 AND gone_at IS NULL
    ORDER BY id LIMIT $4`,
);

/** Bytes of contacts that are compared with the cards of a batch: thousands of ordinary ones, one of the largest for each card. */
const SIMILAR_BYTES = 8 * PAGE_BYTES;

// Reads at most $4 contacts of each key: a whole company may share a phone number. $5: their bytes. $6: keys of the contacts that come first.
const byKeys = workspace.statement<ContactRow & { shared: string[] }>(
  'contacts.by_keys',
  `SELECT ${CONTACT_COLUMNS}, contact.shared
     FROM (SELECT contact.*, found.shared, ${fitsPage('contact.size', '$4', '$5')} AS fits
             FROM (SELECT listed.contact_id, bool_or(wanted.is_first) AS is_first,
                          array_agg(wanted.word) FILTER (WHERE NOT wanted.is_first) AS shared
                     FROM (SELECT unnest($3::text[]), false UNION ALL SELECT unnest($6::text[]), true) AS wanted (word, is_first),
                          LATERAL (
                       SELECT contact_id FROM contact_words WHERE tenant_id = $1 AND addressbook_id = $2 AND word = wanted.word
                        ORDER BY contact_id LIMIT $4) listed
                    GROUP BY listed.contact_id HAVING NOT bool_and(wanted.is_first)
                    ORDER BY is_first DESC, count(*) DESC, listed.contact_id LIMIT $4) found
             JOIN contacts contact ON contact.tenant_id = $1 AND contact.id = found.contact_id
           WINDOW page_order AS (
             ORDER BY found.is_first DESC, cardinality(found.shared) DESC, contact.id ROWS UNBOUNDED PRECEDING)) contact
    WHERE contact.fits
    ORDER BY cardinality(contact.shared) DESC, contact.id`,
  { pipelined: true },
);

const RETURNED = `SELECT ${CONTACT_COLUMNS} FROM`;
const insert = workspace.statement<ContactRow>(
  'contacts.insert',
  `${RETURNED} contacts_insert($1, $2, $3) contact`,
);
// The book is locked before its contacts are counted: `book` is an argument of the function.
const insertWithin = workspace.statement<ContactRow>(
  'contacts.insert_within',
  `WITH book AS MATERIALIZED (
     SELECT id, contacts_count FROM addressbooks WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE)
   ${RETURNED} book CROSS JOIN LATERAL contacts_insert($1, book.id, $3) contact WHERE book.contacts_count < $4`,
);
const insertMany = workspace.statement<Pick<ContactRow, 'id' | 'revision'>>(
  'contacts.insert_many',
  `SELECT contact.id, contact.revision FROM contacts_insert($1, $2, $3) contact`,
);
const update = workspace.statement<ContactRow>(
  'contacts.update',
  `${RETURNED} contacts_update($1, $2, $3) contact`,
);
const remove = workspace.statement<ContactRow>(
  'contacts.remove',
  `${RETURNED} contacts_remove($1, $2, $3) contact`,
);
const move = workspace.statement<ContactRow>(
  'contacts.move',
  `${RETURNED} contact_move($1, $2, $3, $4, $5, $6, $7) contact`,
);

const NIL = '00000000-0000-0000-0000-000000000000';

/** Appended to a word: sorts after the word and before all longer words with this beginning. */
const NEXT = '\u{1}';

/** SQL of contacts. `bookId` is an address book that the caller sees; statements with a role check it themselves. */
@Injectable()
export class ContactsRepository {
  constructor(private readonly db: Db) {}

  /** Undefined means that the caller does not see the address book. */
  async read(
    { tenantId, userId }: RequestContext,
    bookId: string,
    externalId: string,
  ): Promise<AccessedRow | undefined> {
    return (await this.db.query(read, [tenantId, userId, bookId, externalId]))[0];
  }

  /**
   * A page of `bookId`. The access is checked on `accessId`: the same book, or any book of the caller for a list of the book of the
   * workspace. No row: the caller does not see `accessId`; one row without id: the page is empty.
   * @param after sort key and id, or the number, of the last row of the page before
   */
  async list(
    { tenantId, userId }: RequestContext,
    { accessId, bookId }: { accessId: string; bookId: string },
    { prefixes, keys, number = null, kind, members = false }: ContactFilter,
    sort: ContactSort,
    after: readonly (string | number)[] | undefined,
    limit: number,
  ): Promise<ListedRow[]> {
    const position = [after?.[0] ?? null, after?.[1] ?? null];
    const values = [tenantId, userId, accessId, bookId, limit, kind, ...position, members, PAGE_BYTES];
    const [key] = keys;
    if (key === undefined && prefixes.length === 0) return this.db.query(LISTS[sort].plain, values);
    const range = key === undefined ? prefixRange(prefixes) : [key, key + NEXT];
    return this.db.query(LISTS[sort].words, [...values, ...range, keys, prefixes, number]);
  }

  /** The number of the last change of a book. */
  async head({ tenantId }: RequestContext, bookId: string): Promise<number> {
    return (await this.db.query(head, [tenantId, bookId]))[0]?.head ?? 0;
  }

  /**
   * Takes the lock that each write of a book takes first. A transaction that locks other rows of the book, such as an import, takes it
   * before them: a deletion of the book locks in this order.
   * @returns the number of its contacts; undefined when the book does not exist
   */
  async lockBook(tx: Tx, { tenantId }: WorkspaceKey, bookId: string): Promise<number | undefined> {
    return (await tx.query(lockBook, [tenantId, bookId]))[0]?.contacts_count;
  }

  /** Contacts of a book with one of these ids. */
  async find(
    reader: Reader,
    { tenantId }: WorkspaceKey,
    bookId: string,
    column: keyof typeof BY,
    ids: readonly string[],
  ): Promise<ContactRow[]> {
    return ids.length === 0 ? [] : reader.query(BY[column], [tenantId, bookId, ids]);
  }

  /** Ids of contacts of a book, in their order. @param after null: from the start */
  async idsAfter(
    reader: Reader,
    { tenantId }: WorkspaceKey,
    bookId: string,
    after: string | null,
    limit: number,
  ): Promise<string[]> {
    const rows = await reader.query(idsAfter, [tenantId, bookId, after ?? NIL, limit]);
    return rows.map(({ id }) => id);
  }

  /**
   * Contacts of a book with one of these keys, those with most keys first, and the keys that matched.
   * @param bytes at which the list ends
   * @param names keys of names; contacts that have one, too, are the last that a limit leaves out
   */
  async withKeys(
    reader: Reader,
    { tenantId }: WorkspaceKey,
    bookId: string,
    keys: readonly string[],
    limit: number,
    { bytes = SIMILAR_BYTES, names = [] }: { bytes?: number; names?: readonly string[] } = {},
  ): Promise<(ContactRow & { shared: string[] })[]> {
    return keys.length === 0 ? [] : reader.query(byKeys, [tenantId, bookId, keys, limit, bytes, names]);
  }

  /** Skips contacts whose id, external_id or uid is taken, and all when the book no longer exists. @returns the new rows */
  async insert(
    tx: Tx,
    { tenantId }: WorkspaceKey,
    bookId: string,
    contacts: readonly ContactInsert[],
  ): Promise<ContactRow[]> {
    return contacts.length === 0 ? [] : tx.query(insert, [tenantId, bookId, JSON.stringify(contacts)]);
  }

  /** Inserts one contact. @param max contacts of the book @returns undefined also for a full book */
  async insertWithin(
    tx: Tx,
    { tenantId }: WorkspaceKey,
    bookId: string,
    contact: ContactInsert,
    max: number,
  ): Promise<ContactRow | undefined> {
    return (await tx.query(insertWithin, [tenantId, bookId, JSON.stringify([contact]), max]))[0];
  }

  /** Inserts contacts without returning the content of the new rows. */
  async insertMany(
    tx: Tx,
    { tenantId }: WorkspaceKey,
    bookId: string,
    contacts: readonly ContactInsert[],
  ): Promise<Pick<ContactRow, 'id' | 'revision'>[]> {
    return contacts.length === 0 ? [] : tx.query(insertMany, [tenantId, bookId, JSON.stringify(contacts)]);
  }

  /** Skips contacts that no longer have the revision `base`. @returns the written rows */
  async update(
    tx: Tx,
    { tenantId }: WorkspaceKey,
    bookId: string,
    contacts: readonly ContactUpdate[],
  ): Promise<ContactRow[]> {
    return contacts.length === 0 ? [] : tx.query(update, [tenantId, bookId, JSON.stringify(contacts)]);
  }

  /** Skips contacts that are deleted already. @returns the rows as they were */
  async remove(
    tx: Tx,
    { tenantId }: WorkspaceKey,
    bookId: string,
    ids: readonly string[],
  ): Promise<ContactRow[]> {
    return ids.length === 0 ? [] : tx.query(remove, [tenantId, bookId, ids]);
  }

  /** Undefined means that the contact has another revision, or its new external_id or uid is taken in the target. */
  async move(
    tx: Tx,
    { tenantId }: WorkspaceKey,
    contact: ContactRow,
    targetId: string,
    { externalId, uid } = { externalId: contact.external_id, uid: contact.uid },
  ): Promise<ContactRow | undefined> {
    const { addressbook_id: from, id, revision } = contact;
    return (await tx.query(move, [tenantId, from, targetId, id, revision, externalId, uid]))[0];
  }
}
