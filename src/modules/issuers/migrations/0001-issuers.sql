-- OpenID issuers by which members of a workspace sign in.
CREATE TABLE tenant_issuers (
  tenant_id        uuid        NOT NULL REFERENCES tenants (id),
  id               uuid        NOT NULL,
  revision         int         NOT NULL DEFAULT 1,
  name             text        NOT NULL,
  issuer           text        NOT NULL,
  client_id        text        NOT NULL,
  -- Encrypted with SECRET_KEYS; null for a public client.
  client_secret    text,
  scopes           text[]      NOT NULL,
  -- Verified domains of the workspace whose addresses the issuer signs in.
  domains          text[]      NOT NULL,
  email_claim      text        NOT NULL,
  name_claim       text        NOT NULL,
  groups_claim     text,
  -- Groups that a new member joins by a value of the claim: [{value, group_id}].
  group_mappings   jsonb       NOT NULL,
  trusts_email     boolean     NOT NULL,
  creates_members  boolean     NOT NULL,
  default_role     text        NOT NULL CHECK (default_role IN ('member', 'admin')),
  links_accounts   boolean     NOT NULL,
  is_required      boolean     NOT NULL,
  is_enabled       boolean     NOT NULL,
  created_by       uuid,
  created_at       timestamptz(3) NOT NULL DEFAULT now(),
  updated_at       timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id)
);

-- Accounts by the subject of an issuer. An account has one subject there.
CREATE TABLE tenant_issuer_links (
  tenant_id   uuid        NOT NULL,
  issuer_id   uuid        NOT NULL,
  subject     text        NOT NULL,
  account_id  uuid        NOT NULL REFERENCES accounts (id),
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, issuer_id, subject),
  FOREIGN KEY (tenant_id, issuer_id) REFERENCES tenant_issuers (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX tenant_issuer_links_account ON tenant_issuer_links (tenant_id, issuer_id, account_id);
