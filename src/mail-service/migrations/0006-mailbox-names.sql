-- Paths in normalization form C (RFC 8621 2): macOS sends "a" with a combining mark, other systems send "ä". A path whose composed form
-- another mailbox has gets a suffix.
WITH wanted AS (
  SELECT user_id, id, normalize(path, NFC) AS composed,
    row_number() OVER (PARTITION BY user_id, normalize(path, NFC) ORDER BY path IS NFC NORMALIZED DESC, id) AS place
  FROM mailboxes
)
UPDATE mailboxes AS mailbox
SET path = CASE WHEN wanted.place = 1 THEN wanted.composed ELSE wanted.composed || ' (' || mailbox.id || ')' END
FROM wanted
WHERE wanted.user_id = mailbox.user_id AND wanted.id = mailbox.id AND mailbox.path IS NOT NFC NORMALIZED;
