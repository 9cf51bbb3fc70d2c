-- None of the addresses of a deleted collected contact is collected again: an edit or a merge may have added some.
CREATE OR REPLACE FUNCTION collected_contact_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO suppressed_addresses (tenant_id, user_id, address_key)
  SELECT book.tenant_id, book.owner_id, address.key
    FROM addressbooks book,
         -- Keys of categories (#) and departments (/) may contain an @.
         LATERAL (SELECT NEW.external_id AS key UNION
                  SELECT word FROM unnest(OLD.words) AS word WHERE word LIKE '%@%' AND word !~ '^[#/]') address
   WHERE book.tenant_id = NEW.tenant_id AND book.id = NEW.addressbook_id AND book.kind = 'collected'
     AND NOT EXISTS (SELECT FROM contact_words listed
          WHERE listed.tenant_id = NEW.tenant_id AND listed.addressbook_id = NEW.addressbook_id AND listed.word = address.key)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
