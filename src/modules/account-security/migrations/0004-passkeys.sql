-- Passkeys (WebAuthn) of accounts: a second factor, and with user verification the only one.
CREATE TABLE passkeys (
  id             uuid        PRIMARY KEY,
  account_id     uuid        NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  credential_id  bytea       NOT NULL CHECK (octet_length(credential_id) <= 1023),
  -- COSE_Key (RFC 9052).
  public_key     bytea       NOT NULL,
  -- Signature counter; 0: the authenticator does not count.
  counter        bigint      NOT NULL,
  transports     text[]      NOT NULL,
  -- Whether a provider synchronises the passkey between devices.
  synced         boolean     NOT NULL,
  name           text        NOT NULL,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at   timestamptz(3)
);
CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential_id);
CREATE INDEX passkeys_account ON passkeys (account_id);

-- The newest challenge of each ceremony is valid, once.
CREATE TABLE passkey_challenges (
  purpose     text        NOT NULL CHECK (purpose IN ('registration', 'sign_in', 'second_factor')),
  -- The session of the caller, or the sign-in of the browser.
  subject     text        NOT NULL,
  challenge   bytea       NOT NULL,
  expires_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (purpose, subject)
);
CREATE INDEX passkey_challenges_expiry ON passkey_challenges (expires_at);

-- Links to the page of passkeys act as the session that requested them.
ALTER TABLE account_tokens ADD COLUMN session_id uuid;
ALTER TABLE account_tokens DROP CONSTRAINT account_tokens_purpose_check;
ALTER TABLE account_tokens ADD CONSTRAINT account_tokens_purpose_check CHECK (purpose IN ('password', 'email', 'passkeys'));
