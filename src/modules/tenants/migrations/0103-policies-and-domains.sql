-- Rules that the administrators of a workspace set. Without a row all defaults apply.
CREATE TABLE tenant_policies (
  tenant_id                 uuid        PRIMARY KEY REFERENCES tenants (id),
  second_factor_required    boolean     NOT NULL DEFAULT false,
  second_factor_grace_days  int         NOT NULL DEFAULT 7,
  -- Start of the requirement; the grace begins here, or with the membership if that is later.
  second_factor_since       timestamptz(3),
  -- Lifetime of sessions; null: that of the deployment.
  session_days              int,
  -- Null: the minimum of the deployment.
  password_min_length       int,
  link_shares               text        NOT NULL DEFAULT 'members' CHECK (link_shares IN ('members', 'admins', 'nobody')),
  guest_invites             text        NOT NULL DEFAULT 'members' CHECK (guest_invites IN ('members', 'admins', 'nobody')),
  -- Accepted issuers of access tokens; null: all that the deployment accepts.
  allowed_issuers           text[],
  -- Owners of an address in a verified domain join by themselves.
  domain_join               boolean     NOT NULL DEFAULT false,
  updated_at                timestamptz(3) NOT NULL DEFAULT now()
);

-- The proof of a domain: a TXT record with this value. Null for domains that the operator added.
ALTER TABLE tenant_domains ADD COLUMN challenge text;
ALTER TABLE tenant_domains ADD COLUMN created_at timestamptz(3) NOT NULL DEFAULT now();
CREATE INDEX tenant_domains_verified ON tenant_domains (domain) WHERE verified_at IS NOT NULL;
