-- A search finds digits of each script by those of another: contacts of earlier versions get their words in ASCII too.
WITH digits AS (
  SELECT string_agg(chr(zero + digit), '') AS others, string_agg(digit::text, '') AS ascii
    FROM unnest(ARRAY[1632, 1776, 1984, 2406, 2534, 2662, 2790, 2918, 3046, 3174, 3302, 3430, 3558, 3664, 3792, 3872, 4160, 6112, 6160]) AS zero,
         generate_series(0, 9) AS digit),
found AS MATERIALIZED (
  SELECT DISTINCT contact.tenant_id, contact.addressbook_id, contact.id,
         translate(old.word, digits.others, digits.ascii) COLLATE "C" AS word
    FROM contacts contact CROSS JOIN digits CROSS JOIN unnest(contact.words) AS old (word)
   WHERE contact.gone_at IS NULL AND translate(old.word, digits.others, '') <> old.word
     AND translate(old.word, digits.others, digits.ascii) <> ALL (contact.words)),
listed AS (
  INSERT INTO contact_words (tenant_id, addressbook_id, word, contact_id)
  SELECT tenant_id, addressbook_id, word, id FROM found
  ON CONFLICT DO NOTHING)
UPDATE contacts contact SET words = contact.words || added.words
  FROM (SELECT tenant_id, id, array_agg(word ORDER BY word) AS words FROM found GROUP BY 1, 2) added
 WHERE contact.tenant_id = added.tenant_id AND contact.id = added.id;
