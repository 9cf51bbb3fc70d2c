-- The invites of a user that are not revoked, for their quota.
CREATE INDEX external_invites_creator ON external_invites (tenant_id, created_by, expires_at) WHERE revoked_at IS NULL;
