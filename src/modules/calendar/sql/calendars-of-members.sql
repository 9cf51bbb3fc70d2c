-- Locks the events that a member organizes in own calendars, then these calendars and all calendars with placements of the events.
CREATE FUNCTION calendars_lock_owned(p_tenant uuid, p_owner uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM calendar_events event
    WHERE event.tenant_id = p_tenant AND event.organizer_id = p_owner AND event.origin_calendar_id IN (
      SELECT id FROM calendars WHERE tenant_id = p_tenant AND owner_id = p_owner)
    ORDER BY event.id FOR NO KEY UPDATE;
  PERFORM FROM calendars calendar
    WHERE calendar.tenant_id = p_tenant AND (calendar.owner_id = p_owner OR calendar.id IN (
      SELECT entry.calendar_id FROM calendar_events event
        JOIN calendars origin ON origin.tenant_id = p_tenant AND origin.id = event.origin_calendar_id
        JOIN calendar_entries entry ON entry.tenant_id = p_tenant AND entry.event_id = event.id
       WHERE event.tenant_id = p_tenant AND event.organizer_id = p_owner AND origin.owner_id = p_owner))
    ORDER BY calendar.id FOR NO KEY UPDATE;
END $$;

-- Gives all calendars of a member to another one, who organizes their events from now on. The caller has locked them.
-- @returns the number of calendars
CREATE FUNCTION calendars_transfer(p_tenant uuid, p_from uuid, p_to uuid, p_actor uuid) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  owned constant uuid[] := ARRAY(SELECT id FROM calendars WHERE tenant_id = p_tenant AND owner_id = p_from);
  organized constant uuid[] := ARRAY(
    SELECT id FROM calendar_events
     WHERE tenant_id = p_tenant AND organizer_id = p_from AND origin_calendar_id = ANY (owned));
BEGIN
  UPDATE calendar_events event
     SET organizer_id = p_to, organizer_email = lower(heir.email), organizer_name = heir.display_name,
         revision = event.revision + 1, updated_at = clock_timestamp(), updated_by = p_actor
    FROM member_profiles heir
   WHERE heir.tenant_id = p_tenant AND heir.user_id = p_to AND event.tenant_id = p_tenant AND event.id = ANY (organized);
  INSERT INTO event_history (tenant_id, event_id, revision, actor_id, action, recurrence_key, fields, created_at)
  SELECT p_tenant, event.id, event.revision, p_actor, 'updated', '', '{organizer}', clock_timestamp()
    FROM calendar_events event WHERE event.tenant_id = p_tenant AND event.id = ANY (organized);
  PERFORM calendars_renumber(p_tenant, organized, owned, NULL);
  DELETE FROM calendar_shares
   WHERE tenant_id = p_tenant AND calendar_id = ANY (owned) AND grantee_kind = 'user' AND grantee_id = p_to;
  UPDATE calendars
     SET owner_id = p_to, is_default = false, revision = revision + 1, updated_at = clock_timestamp()
   WHERE tenant_id = p_tenant AND id = ANY (owned);
  PERFORM events_report(p_tenant, organized, 'calendar.event.updated', p_actor);
  RETURN cardinality(owned);
END $$;
