-- Links of mails to the owner of an account. The newest link of each purpose is valid, once.
CREATE TABLE account_tokens (
  account_id  uuid        NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  purpose     text        NOT NULL CHECK (purpose IN ('password', 'email')),
  -- SHA-256 of the token.
  token_hash  bytea       NOT NULL,
  -- The new address of a change of address.
  email       text,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  expires_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, purpose)
);
CREATE INDEX account_tokens_expiry ON account_tokens (expires_at);
