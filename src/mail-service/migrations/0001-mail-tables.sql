-- Everything of the embedded mail service, in a schema of its own. The owner of mail comes first in every key.

CREATE TABLE users (
  id text PRIMARY KEY,
  username text NOT NULL UNIQUE,
  address text NOT NULL UNIQUE,
  name text NOT NULL,
  -- A PHC string; without one nobody can log in.
  password text,
  -- Bytes of all messages. Locked by whatever adds or removes one: mail of one person is written in one order.
  storage_used bigint NOT NULL DEFAULT 0,
  -- Recipients written to in the window that began then, for the daily limit.
  sent_count int NOT NULL DEFAULT 0,
  sent_since timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX users_by_domain ON users (substring(address FROM '[^@]*$'));

-- SHA-256 of the token: who reads the table cannot use it.
CREATE TABLE access_tokens (
  hash bytea PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX access_tokens_by_user ON access_tokens (user_id);
CREATE INDEX access_tokens_by_expiry ON access_tokens (expires_at);

CREATE TABLE mailboxes (
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  id text NOT NULL,
  path text NOT NULL,
  -- '\Inbox', '\Drafts', '\Junk', '\Sent', '\Trash', or null
  special_use text,
  subscribed boolean NOT NULL DEFAULT true,
  hidden boolean NOT NULL DEFAULT false,
  encrypt_messages boolean NOT NULL DEFAULT false,
  -- Milliseconds a message is kept; null or 0 is for ever.
  retention bigint,
  uid_next bigint NOT NULL DEFAULT 1,
  modify_index bigint NOT NULL DEFAULT 0,
  total bigint NOT NULL DEFAULT 0,
  unseen bigint NOT NULL DEFAULT 0,
  size bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, id),
  UNIQUE (user_id, path)
);
CREATE UNIQUE INDEX mailboxes_special ON mailboxes (user_id, special_use) WHERE special_use IS NOT NULL;

CREATE TABLE messages (
  user_id text NOT NULL,
  mailbox_id text NOT NULL,
  uid bigint NOT NULL,
  -- Stays when the message moves, which changes its uid.
  id text NOT NULL,
  thread text NOT NULL,
  raw_id text NOT NULL,
  size bigint NOT NULL,
  -- When it arrived here, and the date it bears.
  idate timestamptz NOT NULL,
  hdate timestamptz NOT NULL,
  message_id text NOT NULL,
  subject text NOT NULL,
  intro text,
  seen boolean NOT NULL,
  flagged boolean NOT NULL,
  deleted boolean NOT NULL DEFAULT false,
  draft boolean NOT NULL,
  answered boolean NOT NULL DEFAULT false,
  forwarded boolean NOT NULL DEFAULT false,
  -- from, replyTo, to, cc, bcc, envelope, references, contentType, attachments: in the shape in which they are answered
  summary jsonb NOT NULL,
  body_text text NOT NULL,
  body_html text,
  headers jsonb NOT NULL,
  meta_data jsonb NOT NULL DEFAULT '{}',
  -- Of a draft: the message it answers or forwards.
  reference jsonb,
  -- Of a sent message: the entry of the queue.
  queue_id text,
  expires_at timestamptz,
  PRIMARY KEY (user_id, mailbox_id, uid),
  FOREIGN KEY (user_id, mailbox_id) REFERENCES mailboxes (user_id, id)
);
CREATE INDEX messages_in_order ON messages (user_id, mailbox_id, idate, id);
CREATE INDEX messages_unseen ON messages (user_id, mailbox_id, idate, id) WHERE NOT seen;
CREATE INDEX messages_of_thread ON messages (user_id, thread);
CREATE INDEX messages_by_raw ON messages (raw_id);
CREATE INDEX messages_by_expiry ON messages (expires_at) WHERE expires_at IS NOT NULL;

-- Message-IDs that a thread has seen, its messages' own and those they refer to.
CREATE TABLE thread_keys (
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  key text NOT NULL,
  thread text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, key)
);

-- Raw messages in the blob store. One that nothing refers to is deleted after collect_after; one that is just being
-- written has such a time too, so that what a crash leaves behind is found.
CREATE TABLE raws (
  id text PRIMARY KEY,
  collect_after timestamptz
);
CREATE INDEX raws_to_collect ON raws (collect_after) WHERE collect_after IS NOT NULL;

-- One row for each recipient that has not got a submitted message yet.
CREATE TABLE queue (
  id text NOT NULL,
  seq int NOT NULL,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  sender text NOT NULL,
  recipient text NOT NULL,
  raw_id text NOT NULL,
  subject text NOT NULL,
  -- When to try (next); moved ahead by the lease of the worker that tries now.
  due_at timestamptz NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (id, seq)
);
CREATE INDEX queue_due ON queue (due_at);
CREATE INDEX queue_by_raw ON queue (raw_id);
CREATE INDEX queue_by_recipient ON queue (recipient);

CREATE TABLE job_runs (
  name text PRIMARY KEY,
  ran_at timestamptz NOT NULL
);
