-- The search indexes the texts of instances that differ from their series.
DELETE FROM event_search WHERE (tenant_id, event_id) IN (SELECT tenant_id, event_id FROM event_overrides);
