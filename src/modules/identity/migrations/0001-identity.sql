-- One identity per person, whatever workspaces they belong to.
CREATE TABLE accounts (
  id                  uuid        PRIMARY KEY,
  email               text        NOT NULL,
  -- The address as it is compared: NFKC, lower case.
  email_key           text        NOT NULL UNIQUE,
  display_name        text        NOT NULL,
  password_hash       text,
  status              text        NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'deactivated')),
  -- Tokens issued earlier are void, those of external issuers included.
  tokens_valid_after  timestamptz,
  created_at          timestamptz(3) NOT NULL DEFAULT now(),
  updated_at          timestamptz(3) NOT NULL DEFAULT now()
);

-- Subjects of an external issuer. One account has one subject there: an address given to somebody else does not take
-- the account along.
CREATE TABLE account_links (
  issuer      text        NOT NULL,
  subject     text        NOT NULL,
  account_id  uuid        NOT NULL REFERENCES accounts (id),
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (issuer, subject),
  UNIQUE (issuer, account_id)
);

CREATE TABLE sessions (
  id          uuid        PRIMARY KEY,
  account_id  uuid        NOT NULL REFERENCES accounts (id),
  tenant_id   uuid,
  client_id   text        NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  expires_at  timestamptz NOT NULL,
  revoked_at  timestamptz
);
CREATE INDEX sessions_account ON sessions (account_id);
CREATE INDEX sessions_expired ON sessions (expires_at);

CREATE TABLE signing_keys (
  id           uuid        PRIMARY KEY,
  algorithm    text        NOT NULL,
  public_jwk   jsonb       NOT NULL,
  private_jwk  jsonb       NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  -- Signs nothing new from then on; published until the last token it signed has expired.
  retired_at   timestamptz
);

-- "Forget what you have cached about this person's access": read every second by every process.
CREATE TABLE access_changes (
  id          uuid        PRIMARY KEY,
  account_id  uuid        NOT NULL,
  tenant_id   uuid,
  session_id  uuid,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX access_changes_created ON access_changes (created_at);
