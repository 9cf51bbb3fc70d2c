-- Finds the remembered responses of one object, by its id in the ETag or at the end of the Location.
CREATE INDEX idempotency_keys_tags ON idempotency_keys (tenant_id, split_part(etag, ':', 2)) WHERE etag IS NOT NULL;
CREATE INDEX idempotency_keys_locations ON idempotency_keys (tenant_id, right(location, 36)) WHERE location IS NOT NULL;
