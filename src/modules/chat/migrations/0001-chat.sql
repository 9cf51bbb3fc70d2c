CREATE TYPE chat_room_type AS ENUM ('direct', 'group', 'channel');
-- In ascending order, so that roles compare.
CREATE TYPE chat_role AS ENUM ('member', 'moderator', 'owner');

CREATE TABLE chat_rooms (
  tenant_id        uuid           NOT NULL,
  id               uuid           NOT NULL,
  type             chat_room_type NOT NULL,
  -- Null for direct rooms, which clients name after the other user.
  name             text,
  topic            text           NOT NULL DEFAULT '',
  visibility       text           NOT NULL DEFAULT 'private' CHECK (visibility IN ('private', 'tenant')),
  -- Both user ids of a direct room, in order: two users have one direct room.
  direct_key       text,
  created_by       uuid           NOT NULL,
  members_count    int            NOT NULL DEFAULT 0,
  -- Number of the newest message. Numbers of a room have no gaps.
  last_seq         bigint         NOT NULL DEFAULT 0,
  -- Number of the newest change of a message. Each change takes the next number, and leaves it on the message.
  mod_seq          bigint         NOT NULL DEFAULT 0,
  -- Time of the newest message, or of the creation: the sort key of lists.
  active_at        timestamptz(3) NOT NULL DEFAULT now(),
  created_at       timestamptz(3) NOT NULL DEFAULT now(),
  updated_at       timestamptz(3) NOT NULL DEFAULT now(),
  archived_at      timestamptz(3),
  -- Set when deleted: no request finds the room, and a job deletes its content.
  deleted_at       timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  CHECK ((type = 'direct') = (direct_key IS NOT NULL)),
  CHECK ((type = 'direct') = (name IS NULL))
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX chat_rooms_direct ON chat_rooms (tenant_id, direct_key);
CREATE INDEX chat_rooms_open ON chat_rooms (tenant_id, active_at, id)
  WHERE visibility = 'tenant' AND deleted_at IS NULL;
CREATE INDEX chat_rooms_deleted ON chat_rooms (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE chat_members (
  tenant_id      uuid           NOT NULL,
  room_id        uuid           NOT NULL,
  user_id        uuid           NOT NULL,
  role           chat_role      NOT NULL,
  last_read_seq  bigint         NOT NULL DEFAULT 0,
  notify         text           NOT NULL DEFAULT 'all' CHECK (notify IN ('all', 'mentions', 'none')),
  muted_until    timestamptz(3),
  joined_at      timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, room_id, user_id),
  FOREIGN KEY (tenant_id, room_id) REFERENCES chat_rooms (tenant_id, id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id)
) WITH (fillfactor = 70);
CREATE INDEX chat_members_user ON chat_members (tenant_id, user_id);

CREATE TABLE chat_messages (
  tenant_id      uuid           NOT NULL,
  room_id        uuid           NOT NULL,
  seq            bigint         NOT NULL,
  id             uuid           NOT NULL,
  mod_seq        bigint         NOT NULL,
  sender_id      uuid           NOT NULL,
  -- The id that the client gave its message, and the hash of its content: a repeated request adds no second message.
  client_msg_id  uuid,
  fingerprint    bytea,
  kind           text           NOT NULL CHECK (kind IN ('text', 'system')),
  body           text           NOT NULL,
  format         text           NOT NULL CHECK (format IN ('plain', 'markdown')),
  -- The change of the room that a system message reports.
  event          jsonb,
  reply_to       uuid,
  reply_to_seq   bigint,
  mentions       uuid[]         NOT NULL DEFAULT '{}',
  attachments    jsonb          NOT NULL DEFAULT '[]',
  reactions      jsonb          NOT NULL DEFAULT '[]',
  tsv            tsvector       NOT NULL,
  created_at     timestamptz(3) NOT NULL,
  edited_at      timestamptz(3),
  deleted_at     timestamptz(3),
  deleted_by     uuid,
  PRIMARY KEY (tenant_id, room_id, seq),
  FOREIGN KEY (tenant_id, room_id) REFERENCES chat_rooms (tenant_id, id)
);
CREATE UNIQUE INDEX chat_messages_id ON chat_messages (tenant_id, room_id, id);
CREATE UNIQUE INDEX chat_messages_client ON chat_messages (tenant_id, room_id, sender_id, client_msg_id);
CREATE UNIQUE INDEX chat_messages_changes ON chat_messages (tenant_id, room_id, mod_seq);
CREATE INDEX chat_messages_mentions ON chat_messages (tenant_id, room_id, seq) WHERE mentions <> '{}';
CREATE INDEX chat_messages_words ON chat_messages USING gin (tenant_id, room_id, tsv)
  WITH (fastupdate = on, gin_pending_list_limit = 256);

-- Uploaded files. Until a message contains it, a file belongs to no room and only its owner can download it.
CREATE TABLE chat_attachments (
  tenant_id     uuid           NOT NULL,
  id            uuid           NOT NULL,
  owner_id      uuid           NOT NULL,
  blob_id       uuid           NOT NULL,
  name          text           NOT NULL,
  size          bigint         NOT NULL,
  content_type  text           NOT NULL,
  sha256        bytea          NOT NULL,
  room_id       uuid,
  message_seq   bigint,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  CHECK ((room_id IS NULL) = (message_seq IS NULL)),
  FOREIGN KEY (tenant_id, room_id, message_seq) REFERENCES chat_messages (tenant_id, room_id, seq) ON DELETE CASCADE
);
CREATE INDEX chat_attachments_message ON chat_attachments (tenant_id, room_id, message_seq) WHERE room_id IS NOT NULL;
CREATE INDEX chat_attachments_unsent ON chat_attachments (tenant_id, owner_id) WHERE room_id IS NULL;
CREATE INDEX chat_attachments_due ON chat_attachments (created_at) WHERE room_id IS NULL;

-- Every deletion of attachments, also by the purge of a room, releases their bytes.
CREATE FUNCTION chat_attachments_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM blob_release(deleted.tenant_id, array_agg(deleted.blob_id)) FROM deleted GROUP BY deleted.tenant_id;
  RETURN NULL;
END $$;
CREATE TRIGGER chat_attachments_gone AFTER DELETE ON chat_attachments
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION chat_attachments_gone();
