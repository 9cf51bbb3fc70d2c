-- Subscriptions of programs of others to events.
CREATE TABLE webhooks (
  tenant_id        uuid        NOT NULL,
  id               uuid        NOT NULL,
  owner_id         uuid        NOT NULL,
  revision         int         NOT NULL DEFAULT 1,
  scope            text        NOT NULL CHECK (scope IN ('tenant', 'user')),
  url              text        NOT NULL,
  description      text        NOT NULL,
  event_types      text[]      NOT NULL,
  -- Values by the name of an attribute: only events of this object.
  filter           jsonb       NOT NULL,
  active           boolean     NOT NULL,
  -- Why the service has deactivated it; null otherwise.
  disabled_reason  text,
  disabled_at      timestamptz(3),
  -- Encrypted with SECRET_KEYS.
  secret           text        NOT NULL,
  -- The secret before the last rotation, which signs too until this time.
  previous_secret  text,
  previous_until   timestamptz(3),
  created_at       timestamptz(3) NOT NULL DEFAULT now(),
  updated_at       timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, owner_id) REFERENCES tenant_members (tenant_id, user_id)
);
CREATE INDEX webhooks_owner ON webhooks (tenant_id, owner_id, id);

-- The state of the delivery of each webhook, apart from its settings: it changes with each delivery.
CREATE TABLE webhook_queues (
  tenant_id      uuid        NOT NULL,
  webhook_id     uuid        NOT NULL,
  -- The earliest pending delivery; infinity: none.
  due_at         timestamptz NOT NULL DEFAULT 'infinity',
  -- End of the lease of a process, or of the pause after failures.
  held_until     timestamptz NOT NULL DEFAULT now(),
  -- The later of both.
  ready_at       timestamptz NOT NULL DEFAULT 'infinity',
  -- Identifies a lease: the next one has another number.
  claims         int         NOT NULL DEFAULT 0,
  -- Failed attempts since the last success.
  failures       int         NOT NULL DEFAULT 0,
  failing_since  timestamptz,
  -- Its receiver fails or takes long: it is served apart from the others.
  is_slow        boolean     NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, webhook_id),
  FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_queues_ready ON webhook_queues (ready_at);

-- One event for one webhook. The id is that of the event.
CREATE TABLE webhook_deliveries (
  tenant_id    uuid        NOT NULL,
  webhook_id   uuid        NOT NULL,
  id           uuid        NOT NULL,
  event_type   text        NOT NULL,
  facts        jsonb       NOT NULL,
  occurred_at  timestamptz NOT NULL,
  state        text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  -- The place in the queue: the time of the event, later that of the next attempt.
  due_at       timestamptz NOT NULL,
  attempts     int         NOT NULL DEFAULT 0,
  attempted_at timestamptz(3),
  status_code  int,
  latency_ms   int,
  -- The first bytes of the response.
  response     text,
  error        text,
  PRIMARY KEY (tenant_id, webhook_id, id),
  FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (tenant_id, webhook_id, due_at, id) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_list ON webhook_deliveries (tenant_id, webhook_id, occurred_at, id);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (occurred_at);
