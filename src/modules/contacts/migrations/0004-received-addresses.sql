-- Senders of messages that a user received.
CREATE TABLE received_addresses (
  tenant_id     uuid           NOT NULL,
  user_id       uuid           NOT NULL,
  -- The address as it is compared.
  address_key   text           NOT NULL,
  address       text           NOT NULL,
  name          text           NOT NULL,
  -- Number of messages.
  count         int            NOT NULL,
  last_seen_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, user_id, address_key)
);
CREATE INDEX received_addresses_seen ON received_addresses (tenant_id, user_id, last_seen_at);

-- The part of the inbox whose senders are counted.
CREATE TABLE received_address_scans (
  tenant_id     uuid           NOT NULL,
  user_id       uuid           NOT NULL,
  -- Id of the inbox at the mail service.
  mailbox       text           NOT NULL,
  -- Id of the newest counted message.
  newest        bigint         NOT NULL,
  scanned_at    timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id)
);
