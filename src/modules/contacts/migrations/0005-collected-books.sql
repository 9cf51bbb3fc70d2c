-- The book of the addresses that the server collects for a user. The type is replaced, since a new value of a type cannot be used in the
-- transaction that adds it.
ALTER TABLE addressbooks DROP CONSTRAINT addressbooks_check;
ALTER TYPE addressbook_kind RENAME TO addressbook_kind_before;
CREATE TYPE addressbook_kind AS ENUM ('personal', 'global', 'collected');
ALTER TABLE addressbooks ALTER COLUMN kind TYPE addressbook_kind USING kind::text::addressbook_kind;
DROP TYPE addressbook_kind_before;
ALTER TABLE addressbooks ADD CONSTRAINT addressbooks_check CHECK ((kind = 'global') = (owner_id IS NULL));
CREATE UNIQUE INDEX addressbooks_collected ON addressbooks (tenant_id, owner_id) WHERE kind = 'collected';

-- An address whose collected contact the user deletes is not collected again. A merge deletes contacts whose address another
-- contact of the book keeps.
CREATE FUNCTION collected_contact_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO suppressed_addresses (tenant_id, user_id, address_key)
  SELECT book.tenant_id, book.owner_id, NEW.external_id FROM addressbooks book
   WHERE book.tenant_id = NEW.tenant_id AND book.id = NEW.addressbook_id AND book.kind = 'collected'
     AND NOT EXISTS (SELECT FROM contact_words listed
          WHERE listed.tenant_id = NEW.tenant_id AND listed.addressbook_id = NEW.addressbook_id AND listed.word = NEW.external_id)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER collected_contact_deleted AFTER UPDATE OF gone_at ON contacts FOR EACH ROW
  WHEN (NEW.source = 'extracted' AND NEW.gone_at IS NOT NULL AND OLD.gone_at IS NULL) EXECUTE FUNCTION collected_contact_deleted();
