-- Events as the search engine reads items.
CREATE VIEW searchable_events AS
SELECT tenant_id, id, title, categories AS labels, description, location, revision, created_at
  FROM calendar_events WHERE deleted_at IS NULL;

-- Search keys of an event: the calendars that contain it. Who reads a calendar is decided at the time of the query.
CREATE FUNCTION event_calendars(p_tenant uuid, p_event uuid) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(calendar_id::text ORDER BY calendar_id), '{}') FROM calendar_entries
   WHERE tenant_id = p_tenant AND event_id = p_event
$$;

-- A key for a list of calendars: equal lists have equal keys.
CREATE FUNCTION event_audience(p_tenant uuid, p_event uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT md5(array_to_string(event_calendars(p_tenant, p_event), ','))::uuid
$$;
