-- The last time for which a webhook was inactive: events of this time are not sent, those before it are, whenever the outbox delivers them.
ALTER TABLE webhooks ADD COLUMN inactive_from timestamptz, ADD COLUMN inactive_until timestamptz;
UPDATE webhooks SET inactive_from = updated_at WHERE NOT active;
