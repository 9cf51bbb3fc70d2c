import { SCRIPT_DIGITS } from '../../lib/contact-card/index.js';
import { type Statement, workspace } from '../../platform/database/statement.js';
import { fitsPage } from '../../platform/bounded-pages/page-bytes.js';
import { type AccessedRow, BOOK_ACCESS, CONTACT_COLUMNS } from './contact-access.js';
import type { ContactRow } from './responses/contact.presenter.js';

/** Filters of a list. */
export interface ContactFilter {
  /** Beginnings of words that the contact has. */
  prefixes: string[];
  /** Words and keys that the contact has. */
  keys: string[];
  /** The digits of a number without an international form, which is among the keys. */
  number?: string | null;
  kind: string | null;
  /** Only cards of members. */
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
