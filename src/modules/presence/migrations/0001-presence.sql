-- One row for each user who has ever had a socket or chosen a status.
CREATE TABLE presence_users (
  tenant_id       uuid           NOT NULL,
  user_id         uuid           NOT NULL,
  -- The status that the user has chosen for all devices; null: it follows the devices.
  choice          text           CHECK (choice IN ('away', 'dnd', 'invisible')),
  text            text           NOT NULL DEFAULT '',
  -- End of the choice and its text.
  choice_until    timestamptz(3),
  -- Time from which an invisible user is shown as offline: as late as after a disconnect.
  hidden_at       timestamptz(3),
  -- Time of the next change without an event: hidden_at or choice_until.
  due_at          timestamptz(3),
  -- The status and the text that other users see.
  status          text           NOT NULL DEFAULT 'offline' CHECK (status IN ('online', 'away', 'dnd', 'offline')),
  shown_text      text           NOT NULL DEFAULT '',
  last_active_at  timestamptz(3),
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id)
) WITH (fillfactor = 70);
CREATE INDEX presence_users_shown ON presence_users (tenant_id, user_id) WHERE status <> 'offline';
CREATE INDEX presence_users_due ON presence_users (due_at) WHERE due_at IS NOT NULL;

-- One row for each socket. Unlogged: after a crash of PostgreSQL the processes write their sockets again.
CREATE UNLOGGED TABLE presence_devices (
  tenant_id   uuid           NOT NULL,
  user_id     uuid           NOT NULL,
  -- Id of the socket.
  id          text           NOT NULL,
  active      boolean        NOT NULL,
  active_at   timestamptz(3) NOT NULL,
  -- Rooms that the device shows.
  rooms       uuid[]         NOT NULL,
  expires_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, user_id, id)
) WITH (fillfactor = 70);
CREATE INDEX presence_devices_expired ON presence_devices (expires_at);
