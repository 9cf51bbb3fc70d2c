-- A search also finds words that apostrophes and hyphens join: `obrien` for O'Brien. Contacts of earlier versions get those of their names;
-- letters that Unicode does not decompose stay as they are until the next change of the contact.
WITH named AS MATERIALIZED (
  SELECT contact.tenant_id, contact.addressbook_id, contact.id, contact.words AS old_words,
         concat_ws(' ', contact.card->>'full_name', contact.card->>'nicknames') AS names
    FROM contacts contact
   WHERE contact.gone_at IS NULL
     AND concat_ws(' ', contact.card->>'full_name', contact.card->>'nicknames') ~ '[''`´ʻʼ‘’′＇‐‑-]'),
joined AS MATERIALIZED (
  SELECT DISTINCT named.tenant_id, named.addressbook_id, named.id, found.word
    FROM named, LATERAL (
      SELECT left(lower(regexp_replace(normalize(replace(text[1], '´', ''), NFKD), '[\u0300-\u036f''`´ʻʼ‘’′＇‐‑-]', '', 'g')), 64) COLLATE "C" AS word
        FROM regexp_matches(named.names,
          '([^[:space:][:punct:][:digit:]´ʻʼ‘’′＇‐‑]+(?:[''`´ʻʼ‘’′＇‐‑-][^[:space:][:punct:][:digit:]´ʻʼ‘’′＇‐‑]+)+)', 'g') AS text) found
   WHERE found.word <> ALL (named.old_words)),
listed AS (
  INSERT INTO contact_words (tenant_id, addressbook_id, word, contact_id)
  SELECT tenant_id, addressbook_id, word, id FROM joined
  ON CONFLICT DO NOTHING)
UPDATE contacts contact SET words = contact.words || added.words
  FROM (SELECT tenant_id, id, array_agg(word ORDER BY word) AS words FROM joined GROUP BY 1, 2) added
 WHERE contact.tenant_id = added.tenant_id AND contact.id = added.id;
