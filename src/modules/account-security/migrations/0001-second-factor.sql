-- The second factor of an account, whatever workspaces it belongs to: an authenticator application (TOTP, RFC 6238).
CREATE TABLE second_factors (
  account_id  uuid        PRIMARY KEY REFERENCES accounts (id),
  -- Pending: begun, and nothing depends on it yet.
  state       text        NOT NULL CHECK (state IN ('pending', 'active')),
  -- Encrypted (AES-256-GCM), with the id of its key.
  secret      text        NOT NULL,
  -- The time step of the last code taken: neither it nor an earlier one is taken again.
  last_step   bigint      NOT NULL DEFAULT 0,
  expires_at  timestamptz,
  created_at  timestamptz NOT NULL DEFAULT now()
);

-- For whoever has lost the device. Single use.
CREATE TABLE recovery_codes (
  account_id  uuid        NOT NULL REFERENCES accounts (id),
  n           smallint    NOT NULL,
  -- HMAC, with the id of its key.
  hash        text        NOT NULL,
  used_at     timestamptz,
  PRIMARY KEY (account_id, n)
);
