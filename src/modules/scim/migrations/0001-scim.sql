-- Tokens of the clients that provision members and groups (SCIM).
CREATE TABLE scim_tokens (
  tenant_id     uuid        NOT NULL REFERENCES tenants (id),
  id            uuid        NOT NULL,
  name          text        NOT NULL,
  -- SHA-256 of the token.
  token_hash    bytea       NOT NULL,
  created_by    uuid,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  rotated_at    timestamptz(3),
  expires_at    timestamptz(3),
  last_used_at  timestamptz(3),
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX scim_tokens_hash ON scim_tokens (tenant_id, token_hash);

-- Attributes that a provisioning client has written for a member, beside those of the membership and the profile.
CREATE TABLE scim_users (
  tenant_id    uuid        NOT NULL,
  user_id      uuid        NOT NULL,
  external_id  text,
  attributes   jsonb       NOT NULL DEFAULT '{}',
  -- The client has deleted the user. While the membership is deactivated, the client does not see it.
  deleted_at   timestamptz(3),
  updated_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id)
);
CREATE UNIQUE INDEX scim_users_external ON scim_users (tenant_id, external_id) WHERE external_id IS NOT NULL;

CREATE TABLE scim_groups (
  tenant_id    uuid        NOT NULL,
  group_id     uuid        NOT NULL,
  external_id  text        NOT NULL,
  updated_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, group_id),
  FOREIGN KEY (tenant_id, group_id) REFERENCES rbac_groups (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX scim_groups_external ON scim_groups (tenant_id, external_id);
