-- Secret addresses at which programs of others post into a chat room, or create tasks or events, for their owner.
CREATE TABLE incoming_webhooks (
  tenant_id    uuid        NOT NULL,
  id           uuid        NOT NULL,
  owner_id     uuid        NOT NULL,
  revision     int         NOT NULL DEFAULT 1,
  name         text        NOT NULL,
  target_type  text        NOT NULL CHECK (target_type IN ('room', 'task_folder', 'calendar')),
  -- Without a foreign key: the target may be deleted before the address.
  target_id    uuid        NOT NULL,
  active       boolean     NOT NULL,
  -- SHA-256 of the token in the address.
  token_hash   bytea       NOT NULL,
  -- To the minute.
  last_used_at timestamptz(3),
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  updated_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, owner_id) REFERENCES tenant_members (tenant_id, user_id)
);
CREATE INDEX incoming_webhooks_owner ON incoming_webhooks (tenant_id, owner_id, id);
CREATE UNIQUE INDEX incoming_webhooks_token ON incoming_webhooks (tenant_id, token_hash);
