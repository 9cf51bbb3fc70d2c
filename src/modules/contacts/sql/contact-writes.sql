-- All writes of contacts. The row of the address book is locked first, which serialises the writes of one book, then its
-- counter in sync_heads. Functions skip contacts that they cannot write; the caller compares the returned rows with its input.
-- LATERAL with OFFSET 0 forces look-ups by the primary key: while the statistics are those of a smaller table, as during an import,
-- PostgreSQL would read the whole address book. Because of the lock of the book, rows of contact_words can be deleted by their ctid.

-- Locks an address book and allocates numbers of its feed. Null means that the book does not exist.
CREATE FUNCTION addressbook_numbers(p_tenant uuid, p_book uuid, p_count int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM addressbooks WHERE tenant_id = p_tenant AND id = p_book FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  RETURN advance_head(p_tenant, p_book, p_count) - p_count;
END $$;

-- Whether programs of others want an event of the contacts of an address book. Those in the book of the workspace, which are cards of
-- members and whose book has the id of the workspace, have none.
CREATE FUNCTION contact_event_wanted(p_tenant uuid, p_book uuid, p_type text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN p_book <> p_tenant AND EXISTS (SELECT FROM event_interests WHERE tenant_id = p_tenant AND type = p_type);
END $$;

CREATE FUNCTION contact_event_facts(p_book uuid, p_id uuid, p_external_id text, p_revision int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('addressbook_id', p_book, 'contact_id', p_id, 'external_id', p_external_id, 'revision', p_revision)
$$;

-- The contacts of a write, in the order of `p_items`. Columns that the write does not use are null.
CREATE FUNCTION contact_items(p_items jsonb) RETURNS TABLE (
  n bigint, id uuid, base int, external_id text, uid text, kind contact_kind, sort_key text, card text, words text[],
  content_hash text, source contact_source, linked_user_id uuid, photo_id uuid, field_revisions jsonb
) LANGUAGE sql IMMUTABLE AS $$
  SELECT element.n, item.*
    FROM jsonb_array_elements(p_items) WITH ORDINALITY AS element (value, n),
         jsonb_to_record(element.value) AS item (id uuid, base int, external_id text, uid text, kind contact_kind, sort_key text,
           card text, words text[], content_hash text, source contact_source, linked_user_id uuid, photo_id uuid,
           field_revisions jsonb)
$$;

-- The highest revision of the deleted contacts of a book with an external_id; null for none.
CREATE FUNCTION contact_former_revision(p_tenant uuid, p_book uuid, p_external_id text) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT max(revision) FROM contacts
           WHERE tenant_id = p_tenant AND addressbook_id = p_book AND external_id = p_external_id AND gone_at IS NOT NULL);
END $$;

-- Creates contacts. Skips those whose id, external_id or uid is taken in the book, and all of them in a deleted book. The revision of a
-- contact continues that of the contact before its deletion (`base`), or that of a deleted contact with the same external_id, so
-- that changes of older revisions remain conflicts.
CREATE FUNCTION contacts_insert(p_tenant uuid, p_book uuid, p_items jsonb) RETURNS SETOF contacts LANGUAGE plpgsql AS $$
DECLARE
  v_before bigint := addressbook_numbers(p_tenant, p_book, jsonb_array_length(p_items));
  v_wanted boolean := contact_event_wanted(p_tenant, p_book, 'contact.created');
BEGIN
  IF v_before IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  WITH made AS (
    INSERT INTO contacts (tenant_id, addressbook_id, id, external_id, uid, kind, sort_key, card, size, words, content_hash, source,
                          linked_user_id, photo_id, field_revisions, revision, seq)
    SELECT p_tenant, p_book, item.id, item.external_id, item.uid, item.kind, item.sort_key, item.card::json, length(item.card),
           item.words, decode(item.content_hash, 'hex'), item.source, item.linked_user_id, item.photo_id,
           coalesce(item.field_revisions, (
             SELECT jsonb_object_agg(field, former.revision + 1) FROM json_object_keys(item.card::json) AS field
              WHERE former.revision IS NOT NULL), '{}'),
           coalesce(greatest(item.base, former.revision), 0) + 1, v_before + item.n
      FROM contact_items(p_items) item
     CROSS JOIN LATERAL (
       SELECT CASE WHEN item.external_id <> item.id::text
                   THEN contact_former_revision(p_tenant, p_book, item.external_id) END AS revision) former
     ORDER BY item.n
    ON CONFLICT DO NOTHING
    RETURNING *),
  indexed AS (
    INSERT INTO contact_words (tenant_id, addressbook_id, word, contact_id)
    SELECT p_tenant, p_book, word, made.id FROM made, unnest(made.words) AS word ORDER BY word),
  counted AS (
    UPDATE addressbooks SET contacts_count = contacts_count + (SELECT count(*) FROM made)
     WHERE tenant_id = p_tenant AND id = p_book),
  events AS (
    INSERT INTO outbox (tenant_id, id, type, payload)
    SELECT p_tenant, uuid_v7(), 'contact.created', contact_event_facts(p_book, made.id, made.external_id, made.revision)
      FROM made WHERE v_wanted)
  SELECT * FROM made;
END $$;

-- Writes new content to contacts that still have the revision `base`.
CREATE FUNCTION contacts_update(p_tenant uuid, p_book uuid, p_items jsonb) RETURNS SETOF contacts LANGUAGE plpgsql AS $$
DECLARE
  v_before bigint := addressbook_numbers(p_tenant, p_book, jsonb_array_length(p_items));
  v_wanted boolean := contact_event_wanted(p_tenant, p_book, 'contact.updated');
BEGIN
  IF v_before IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  WITH item AS MATERIALIZED (
    SELECT item.*, contact.words AS old_words, contact.external_id AS old_external_id
      FROM contact_items(p_items) item
      JOIN LATERAL (SELECT * FROM contacts WHERE tenant_id = p_tenant AND id = item.id OFFSET 0) contact ON true
     WHERE contact.addressbook_id = p_book AND contact.gone_at IS NULL AND contact.revision = item.base),
  unindexed AS (
    DELETE FROM contact_words WHERE ctid = ANY (ARRAY(
      SELECT listed.place FROM item, unnest(item.old_words) AS old, LATERAL (
        SELECT ctid AS place FROM contact_words
         WHERE tenant_id = p_tenant AND addressbook_id = p_book AND word = old AND contact_id = item.id OFFSET 0) listed
       WHERE old <> ALL (item.words)))),
  indexed AS (
    INSERT INTO contact_words (tenant_id, addressbook_id, word, contact_id)
    SELECT p_tenant, p_book, word, item.id FROM item, unnest(item.words) AS word WHERE word <> ALL (item.old_words)),
  events AS (
    INSERT INTO outbox (tenant_id, id, type, payload)
    SELECT p_tenant, uuid_v7(), 'contact.updated', contact_event_facts(p_book, item.id, item.old_external_id, item.base + 1)
      FROM item WHERE v_wanted)
  UPDATE contacts contact
     SET kind = item.kind, sort_key = item.sort_key, card = item.card::json, size = length(item.card),
         words = item.words, content_hash = decode(item.content_hash, 'hex'), photo_id = item.photo_id,
         field_revisions = item.field_revisions,
         revision = contact.revision + 1, seq = v_before + item.n, updated_at = clock_timestamp()
    FROM item WHERE contact.tenant_id = p_tenant AND contact.id = item.id
  RETURNING contact.*;
END $$;

-- Deletes contacts and leaves removals for the feed, in the order of `p_ids`.
-- @returns the contacts as they were
CREATE FUNCTION contacts_remove(p_tenant uuid, p_book uuid, p_ids uuid[]) RETURNS SETOF contacts LANGUAGE plpgsql AS $$
DECLARE
  v_before bigint := addressbook_numbers(p_tenant, p_book, cardinality(p_ids));
  v_wanted boolean := contact_event_wanted(p_tenant, p_book, 'contact.deleted');
BEGIN
  IF v_before IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  WITH old AS MATERIALIZED (
    SELECT contact.* FROM unnest(p_ids) AS wanted (id)
      JOIN LATERAL (SELECT * FROM contacts WHERE tenant_id = p_tenant AND id = wanted.id OFFSET 0) contact ON true
     WHERE contact.addressbook_id = p_book AND contact.gone_at IS NULL),
  unindexed AS (
    DELETE FROM contact_words WHERE ctid = ANY (ARRAY(
      SELECT listed.place FROM old, unnest(old.words) AS term, LATERAL (
        SELECT ctid AS place FROM contact_words
         WHERE tenant_id = p_tenant AND addressbook_id = p_book AND word = term AND contact_id = old.id OFFSET 0) listed))),
  counted AS (
    UPDATE addressbooks SET contacts_count = contacts_count - (SELECT count(*) FROM old)
     WHERE tenant_id = p_tenant AND id = p_book),
  events AS (
    INSERT INTO outbox (tenant_id, id, type, payload)
    SELECT p_tenant, uuid_v7(), 'contact.deleted', contact_event_facts(p_book, old.id, old.external_id, old.revision)
      FROM old WHERE v_wanted),
  removed AS (
    UPDATE contacts contact
       SET card = '{}', size = 2, words = '{}', sort_key = '', content_hash = '', linked_user_id = NULL, photo_id = NULL,
           field_revisions = '{}',
           seq = v_before + array_position(p_ids, contact.id), gone_at = clock_timestamp()
      FROM old WHERE contact.tenant_id = p_tenant AND contact.id = old.id)
  SELECT * FROM old;
END $$;

-- Moves a contact to another address book, where it may get another external_id and uid. The source keeps a removal; its events are a
-- deletion and a creation. Skips a contact whose revision is not `p_base`, and one whose external_id or uid is taken in the target.
CREATE FUNCTION contact_move(
  p_tenant uuid, p_from uuid, p_to uuid, p_id uuid, p_base int, p_external_id text, p_uid text
) RETURNS SETOF contacts LANGUAGE plpgsql AS $$
DECLARE
  v_first bigint := addressbook_numbers(p_tenant, least(p_from, p_to), 1);
  v_second bigint := addressbook_numbers(p_tenant, greatest(p_from, p_to), 1);
  v_old contacts;
  v_revision int;
BEGIN
  SELECT contact.* INTO v_old FROM contacts contact
   WHERE contact.tenant_id = p_tenant AND contact.addressbook_id = p_from AND contact.id = p_id AND contact.gone_at IS NULL
     AND contact.revision = p_base;
  IF NOT FOUND OR v_first IS NULL OR v_second IS NULL OR EXISTS (
    SELECT FROM contacts taken WHERE taken.tenant_id = p_tenant AND taken.addressbook_id = p_to AND taken.gone_at IS NULL
       AND (taken.external_id = p_external_id OR taken.uid = p_uid)) THEN
    RETURN;
  END IF;
  DELETE FROM contact_words WHERE tenant_id = p_tenant AND addressbook_id = p_from AND word = ANY (v_old.words) AND contact_id = p_id;
  INSERT INTO contact_words (tenant_id, addressbook_id, word, contact_id)
  SELECT p_tenant, p_to, word, p_id FROM unnest(v_old.words) AS word;
  UPDATE addressbooks SET contacts_count = contacts_count + CASE id WHEN p_to THEN 1 ELSE -1 END
   WHERE tenant_id = p_tenant AND id IN (p_from, p_to);
  v_revision := greatest(v_old.revision, contact_former_revision(p_tenant, p_to, p_external_id)) + 1;
  IF contact_event_wanted(p_tenant, p_from, 'contact.deleted') THEN
    INSERT INTO outbox (tenant_id, id, type, payload)
    VALUES (p_tenant, uuid_v7(), 'contact.deleted', contact_event_facts(p_from, p_id, v_old.external_id, v_old.revision));
  END IF;
  IF contact_event_wanted(p_tenant, p_to, 'contact.created') THEN
    INSERT INTO outbox (tenant_id, id, type, payload)
    VALUES (p_tenant, uuid_v7(), 'contact.created', contact_event_facts(p_to, p_id, p_external_id, v_revision));
  END IF;
  RETURN QUERY
  UPDATE contacts contact
     SET addressbook_id = p_to, external_id = p_external_id, uid = p_uid, revision = v_revision,
         seq = 1 + CASE WHEN p_to < p_from THEN v_first ELSE v_second END, updated_at = clock_timestamp()
   WHERE contact.tenant_id = p_tenant AND contact.id = p_id
  RETURNING contact.*;
  INSERT INTO contacts (tenant_id, addressbook_id, id, external_id, uid, kind, sort_key, card, size, words, content_hash, source, revision,
                        seq, gone_at)
  VALUES (p_tenant, p_from, uuid_v7(), v_old.external_id, v_old.uid, v_old.kind, '', '{}', 2, '{}', '', v_old.source, v_old.revision,
          1 + CASE WHEN p_from < p_to THEN v_first ELSE v_second END, clock_timestamp());
END $$;
