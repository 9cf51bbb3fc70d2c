-- End of the text that other users see of an invisible user: the end of the choice before.
ALTER TABLE presence_users ADD COLUMN shown_until timestamptz(3);
-- The text of a status is shown while its user is offline.
UPDATE presence_users SET shown_text = text
 WHERE status = 'offline' AND choice IS DISTINCT FROM 'invisible' AND text <> '' AND (choice_until IS NULL OR choice_until > now());
