-- The claim of an entry looks for earlier ones of the same sender and recipient.
CREATE INDEX queue_pairs ON queue (recipient, sender, due_at);
DROP INDEX queue_by_recipient;
