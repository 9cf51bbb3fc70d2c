/** Invariants, each with a query for the rows that violate it. */
export const NEVER_OF_CONTACTS: Record<string, string> = {
  'a word that is missing or too many in the index of contacts': `
    (SELECT contact.id, contact.addressbook_id, word FROM contacts contact, unnest(contact.words) AS word WHERE contact.gone_at IS NULL
    EXCEPT SELECT contact_id, addressbook_id, word FROM contact_words)
    UNION ALL
    (SELECT contact_id, addressbook_id, word FROM contact_words
    EXCEPT SELECT contact.id, contact.addressbook_id, word FROM contacts contact, unnest(contact.words) AS word
            WHERE contact.gone_at IS NULL)`,
  'an address book with an invalid count of contacts': `
    SELECT book.id FROM addressbooks book WHERE book.contacts_count <> (
      SELECT count(*) FROM contacts contact
       WHERE contact.tenant_id = book.tenant_id AND contact.addressbook_id = book.id AND contact.gone_at IS NULL)`,
  'a deleted contact with content': `
    SELECT contact.id FROM contacts contact WHERE contact.gone_at IS NOT NULL
       AND (contact.card::text <> '{}' OR contact.words <> '{}' OR contact.photo_id IS NOT NULL)`,
  'a contact with another hash than its card': `
    SELECT contact.id FROM contacts contact WHERE contact.gone_at IS NULL
       AND contact.content_hash <> sha256(convert_to(contact.card::text, 'UTF8'))`,
};
