-- The calls of a host that have not ended, for their quota.
CREATE INDEX calls_open ON calls (tenant_id, host_id) WHERE ended_at IS NULL;
