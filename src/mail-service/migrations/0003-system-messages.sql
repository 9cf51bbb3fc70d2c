-- Messages of the workspace itself: they have no account, and no copy in a mailbox.
ALTER TABLE queue ALTER COLUMN user_id DROP NOT NULL;

-- Ids of accepted system messages, so that a repeated request does not send a message again.
CREATE TABLE system_messages (
  id          text        PRIMARY KEY,
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX system_messages_created ON system_messages (created_at);
