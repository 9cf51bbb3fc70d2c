-- Invitations of users to a workspace. A row stays for 90 days after its end.
CREATE TABLE tenant_invitations (
  tenant_id    uuid        NOT NULL REFERENCES tenants (id),
  id           uuid        NOT NULL,
  email        text        NOT NULL,
  -- The address in its comparable form.
  email_key    text        NOT NULL,
  role         text        NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  group_ids    uuid[]      NOT NULL DEFAULT '{}',
  message      text        NOT NULL DEFAULT '',
  language     text        NOT NULL,
  state        text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'accepted', 'revoked', 'expired')),
  -- SHA-256 of the token of the link; null after the end.
  token_hash   bytea,
  -- Null: the user joins by a verified domain of the workspace.
  invited_by   uuid,
  accepted_by  uuid,
  -- Number of mails.
  sent         int         NOT NULL DEFAULT 1,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  expires_at   timestamptz(3) NOT NULL,
  ended_at     timestamptz(3),
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX tenant_invitations_pending ON tenant_invitations (tenant_id, email_key) WHERE state = 'pending';
CREATE INDEX tenant_invitations_token ON tenant_invitations (tenant_id, token_hash) WHERE token_hash IS NOT NULL;
CREATE INDEX tenant_invitations_expiry ON tenant_invitations (expires_at) WHERE state = 'pending';
CREATE INDEX tenant_invitations_ended ON tenant_invitations (ended_at) WHERE ended_at IS NOT NULL;

-- Requests to remove the second factor of an owner, which another member must repeat.
CREATE TABLE second_factor_resets (
  tenant_id     uuid        NOT NULL,
  user_id       uuid        NOT NULL,
  requested_by  uuid        NOT NULL,
  expires_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id)
);

-- The new permissions, for the admins groups of existing workspaces.
INSERT INTO rbac_grants (tenant_id, group_id, permission)
SELECT tenant_id, id, permission FROM rbac_groups
 CROSS JOIN (VALUES ('users.invite'), ('users.recover'), ('tenant.policy'), ('clients.manage')) AS made (permission)
 WHERE system AND key = 'admins' ON CONFLICT DO NOTHING;
UPDATE tenant_rbac SET version = version + 1;
