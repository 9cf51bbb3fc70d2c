-- The last message of each room whose notifications are made.
CREATE TABLE chat_notified (
  tenant_id  uuid   NOT NULL,
  room_id    uuid   NOT NULL,
  seq        bigint NOT NULL,
  PRIMARY KEY (tenant_id, room_id),
  FOREIGN KEY (tenant_id, room_id) REFERENCES chat_rooms (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);

-- Finds recent messages of all rooms. Messages are stored in the order of time, so a few ranges are read; an insertion writes
-- nothing else than the row.
CREATE INDEX chat_messages_age ON chat_messages USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);
