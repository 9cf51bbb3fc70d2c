-- Codes: rows exist for all requested addresses; without a code the address does not fit the invite.
ALTER TABLE guest_otps ALTER COLUMN code_hmac DROP NOT NULL;
ALTER TABLE guest_otps DROP COLUMN sent_count, DROP COLUMN window_start, DROP COLUMN day_count, DROP COLUMN day,
  DROP COLUMN sent_at;

-- The use of any earlier token of a guest is detected, not only of the last one.
ALTER TABLE guests DROP COLUMN previous_token_hash;
CREATE TABLE guest_spent_tokens (
  tenant_id   uuid           NOT NULL,
  token_hash  bytea          NOT NULL,
  guest_id    uuid           NOT NULL,
  spent_at    timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, token_hash),
  FOREIGN KEY (tenant_id, guest_id) REFERENCES guests (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX guest_spent_tokens_guest ON guest_spent_tokens (tenant_id, guest_id);

-- Bytes of all files that the guest has uploaded.
ALTER TABLE guests ADD COLUMN upload_bytes bigint NOT NULL DEFAULT 0;
CREATE INDEX guests_in_session ON guests (tenant_id, call_id, role) WHERE state = 'in_session';
CREATE INDEX external_invites_expired ON external_invites (expires_at);

-- Times of the requests within a sliding window, oldest first.
CREATE TABLE guest_limits (
  tenant_id  uuid             NOT NULL,
  scope      text             NOT NULL,
  subject    bytea            NOT NULL,
  times      timestamptz(3)[] NOT NULL DEFAULT '{}',
  used_at    timestamptz(3)   NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, scope, subject)
);
CREATE INDEX guest_limits_used ON guest_limits (used_at);
