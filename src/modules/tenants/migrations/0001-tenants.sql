CREATE TABLE tenants (
  id          uuid        PRIMARY KEY,
  slug        text        NOT NULL UNIQUE,
  name        text        NOT NULL,
  branding    jsonb       NOT NULL DEFAULT '{}',
  created_at  timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE tenant_domains (
  tenant_id    uuid        NOT NULL REFERENCES tenants (id),
  domain       text        NOT NULL,
  verified_at  timestamptz(3),
  PRIMARY KEY (tenant_id, domain)
);

-- Who belongs to a workspace, under which name and address its other members see them. Name and address are copied
-- from the account: every query of a workspace then stays inside the workspace's shard.
CREATE TABLE tenant_members (
  tenant_id     uuid        NOT NULL REFERENCES tenants (id),
  user_id       uuid        NOT NULL,
  role          text        NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  status        text        NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'deactivated')),
  email         text        NOT NULL,
  display_name  text        NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX tenant_members_user ON tenant_members (user_id);
CREATE INDEX tenant_members_email ON tenant_members (tenant_id, lower(email));
