-- `urn:uuid:` is a spelling of a uid, which earlier versions stored as it came in JSON. Where another contact of the book has the uid
-- in the other spelling, the uid stays. The feed delivers the contacts. Their revision stays, so that merges and imports can be undone.
WITH spelled AS (
  SELECT contact.tenant_id, contact.addressbook_id, contact.id, contact.uid AS old_uid, contact.card::text AS old_card,
         CASE WHEN contact.uid ~* '^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' AND NOT EXISTS (
                SELECT FROM contacts other
                 WHERE other.tenant_id = contact.tenant_id AND other.addressbook_id = contact.addressbook_id
                   AND other.uid = substr(contact.uid, 10) AND other.gone_at IS NULL)
              THEN substr(contact.uid, 10) ELSE contact.uid END AS uid,
         CASE WHEN contact.kind = 'group' AND contact.card->'members' IS NOT NULL
              THEN replace(contact.card::text, '"members":' || (contact.card->'members')::text, '"members":' || regexp_replace(
                     (contact.card->'members')::text, '"urn:uuid:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"', '"\1"', 'gi'))
              ELSE contact.card::text END AS card
    FROM contacts contact
   WHERE contact.gone_at IS NULL
     AND (contact.uid LIKE 'urn:uuid:%' OR contact.kind = 'group' AND contact.card::text ILIKE '%"urn:uuid:%')),
changed AS MATERIALIZED (
  SELECT spelled.*, row_number() OVER (PARTITION BY tenant_id, addressbook_id ORDER BY id) AS number
    FROM spelled WHERE uid <> old_uid OR card <> old_card),
numbered AS (
  UPDATE sync_heads counter SET head = counter.head + book.contacts
    FROM (SELECT tenant_id, addressbook_id, count(*) AS contacts FROM changed GROUP BY 1, 2) book
   WHERE counter.tenant_id = book.tenant_id AND counter.user_id = book.addressbook_id
  RETURNING counter.tenant_id, counter.user_id AS addressbook_id, counter.head - book.contacts AS before)
UPDATE contacts contact
   SET uid = changed.uid, card = changed.card::json, size = length(changed.card),
       content_hash = sha256(convert_to(changed.card, 'UTF8')), seq = numbered.before + changed.number
  FROM changed JOIN numbered USING (tenant_id, addressbook_id)
 WHERE contact.tenant_id = changed.tenant_id AND contact.id = changed.id;
