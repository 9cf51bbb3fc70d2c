import type { BookRole, ContactRow } from './responses/contact.presenter.js';

/** Columns of a `ContactRow`. */
export const CONTACT_COLUMNS = [
  'id',
  'addressbook_id',
  'external_id',
  'uid',
  'card::text AS card',
  'source',
  'linked_user_id',
  'photo_id',
  'field_revisions',
  'revision',
  'created_at',
  'updated_at',
]
  .map((column) => `contact.${column}`)
  .join(', ').concat(`, CASE WHEN contact.photo_id IS NOT NULL THEN (
      SELECT json_build_object('media_type', 'image/jpeg', 'size', photo.size, 'sha256', encode(photo.sha256, 'hex'),
                               'width', photo.width, 'height', photo.height)::text
        FROM contact_photos photo WHERE photo.tenant_id = contact.tenant_id AND photo.id = contact.photo_id) END AS photo`);

/**
 * SQL: the address book $3 with the role of the user $2 in the workspace $1, `global` in the address book of the workspace.
 * No row: the caller does not see it.
 */
export const BOOK_ACCESS = `(SELECT book.*, CASE WHEN book.owner_id = $2 THEN 'owner' WHEN book.kind = 'global' THEN 'global'
            ELSE share.role::text END AS role
       FROM addressbooks book
       LEFT JOIN addressbook_shares share
         ON share.tenant_id = book.tenant_id AND share.addressbook_id = book.id AND share.user_id = $2
      WHERE book.tenant_id = $1 AND book.id = $3 AND (book.owner_id = $2 OR book.kind = 'global' OR share.role IS NOT NULL))`;

/** SQL: the ids of the address books that the user $2 sees in the workspace $1, with that of the workspace. */
export const VISIBLE_BOOKS = `(SELECT own.id FROM addressbooks own WHERE own.tenant_id = $1 AND own.owner_id = $2
              UNION ALL
             SELECT share.addressbook_id FROM addressbook_shares share WHERE share.tenant_id = $1 AND share.user_id = $2
              UNION ALL
             SELECT $1)`;

/** A row of a statement that checks the access too: without `id` where the address book has no such contact. */
export type AccessedRow = { role: StoredRole; default_country: string | null } & (ContactRow | { id: null });
export type StoredRole = BookRole | 'global';
