-- The messages about one event: whether a recipient knows an earlier version of it.
CREATE INDEX scheduling_messages_event ON scheduling_messages (tenant_id, event_id) WHERE event_id IS NOT NULL;
