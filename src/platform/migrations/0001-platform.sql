-- The tables of the platform itself: what every domain's writes share.

CREATE TABLE platform_secrets (
  purpose     text        NOT NULL,
  id          uuid        NOT NULL,
  material    bytea       NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (purpose, id)
);

-- One counter per person and workspace: each change that person can see takes the next number (architecture, section 5).
CREATE TABLE sync_heads (
  tenant_id  uuid   NOT NULL,
  user_id    uuid   NOT NULL,
  head       bigint NOT NULL,
  -- Per collection: removals up to this number have been forgotten.
  floors     jsonb  NOT NULL DEFAULT '{}',
  PRIMARY KEY (tenant_id, user_id)
) WITH (fillfactor = 40);

CREATE TABLE idempotency_keys (
  tenant_id    uuid        NOT NULL,
  user_id      uuid        NOT NULL,
  route        text        NOT NULL,
  key          text        NOT NULL,
  fingerprint  bytea       NOT NULL,
  status       int         NOT NULL,
  reply        text        NOT NULL,
  etag         text,
  location     text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id, route, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

-- Domain events, written by the transaction that caused them and delivered at least once after it.
CREATE TABLE outbox (
  tenant_id    uuid        NOT NULL,
  id           uuid        NOT NULL,
  type         text        NOT NULL,
  payload      jsonb       NOT NULL,
  occurred_at  timestamptz NOT NULL DEFAULT now(),
  attempts     int         NOT NULL DEFAULT 0,
  due_at       timestamptz NOT NULL DEFAULT now(),
  parked_at    timestamptz,
  last_error   text,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX outbox_due ON outbox (due_at) WHERE parked_at IS NULL;

CREATE TABLE job_runs (
  name      text        PRIMARY KEY,
  ran_at    timestamptz NOT NULL
);
