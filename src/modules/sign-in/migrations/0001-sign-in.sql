-- What the OpenID provider remembers: codes, refresh tokens, grants, browser sessions, sign-ins under way.
CREATE TABLE oidc_records (
  -- The provider's name for the kind: AuthorizationCode, RefreshToken, Grant, Session, ...
  model           text        NOT NULL,
  -- HMAC of the id, which is what a client or browser presents: a stolen copy of the table opens nothing.
  id_hash         bytea       NOT NULL,
  -- JSON, without the id. Text: only the provider looks inside, and jsonb would refuse what JSON permits (U+0000).
  payload         text        NOT NULL,
  -- The family a token belongs to; also the id of its session.
  grant_id        uuid,
  uid_hash        bytea,
  user_code_hash  bytea,
  consumed_at     timestamptz,
  -- When a device last asked for the outcome.
  polled_at       timestamptz,
  expires_at      timestamptz NOT NULL,
  PRIMARY KEY (model, id_hash)
);
CREATE INDEX oidc_records_grant ON oidc_records (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX oidc_records_uid ON oidc_records (uid_hash) WHERE uid_hash IS NOT NULL;
CREATE UNIQUE INDEX oidc_records_user_code ON oidc_records (user_code_hash) WHERE user_code_hash IS NOT NULL;
CREATE INDEX oidc_records_expires ON oidc_records (expires_at);

-- Programs that people sign in with, or that act by themselves.
CREATE TABLE oidc_clients (
  id            text        PRIMARY KEY,
  kind          text        NOT NULL CHECK (kind IN ('public', 'confidential', 'device', 'service')),
  name          text        NOT NULL,
  -- Ours: people are not asked whether it may act for them.
  first_party   boolean     NOT NULL DEFAULT false,
  -- SHA-256 of a random secret of 256 bits, which needs no slow hash.
  secret_hash   bytea       CHECK ((secret_hash IS NOT NULL) = (kind IN ('confidential', 'service'))),
  redirect_uris text[]      NOT NULL DEFAULT '{}',
  logout_uris   text[]      NOT NULL DEFAULT '{}',
  -- Of a service: the account it acts as, and where.
  account_id    uuid        REFERENCES accounts (id),
  tenant_id     uuid        REFERENCES tenants (id),
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  CHECK ((account_id IS NOT NULL AND tenant_id IS NOT NULL) = (kind = 'service'))
);
