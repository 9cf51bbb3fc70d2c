-- The polls of a user that are neither finalised nor cancelled, for their quota.
CREATE INDEX polls_open ON polls (tenant_id, owner_id) WHERE option_id IS NULL AND cancelled_at IS NULL;
