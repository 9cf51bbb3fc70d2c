-- Locks the events that a member organizes in own calendars, then these calendars and those with placements of the events.
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
  WITH placed AS (
    SELECT calendar_id, event_id, row_number() OVER (PARTITION BY calendar_id ORDER BY event_id) AS n
      FROM calendar_entries WHERE tenant_id = p_tenant AND (event_id = ANY (organized) OR calendar_id = ANY (owned))),
  counted AS (
    UPDATE calendars SET change_seq = change_seq + total FROM (
      SELECT calendar_id, count(*) AS total FROM placed GROUP BY calendar_id) AS totals
     WHERE calendars.tenant_id = p_tenant AND calendars.id = totals.calendar_id
    RETURNING calendars.id, calendars.change_seq - totals.total AS before)
  UPDATE calendar_entries entry SET change_seq = counted.before + placed.n
    FROM placed JOIN counted ON counted.id = placed.calendar_id
   WHERE entry.tenant_id = p_tenant AND entry.calendar_id = placed.calendar_id AND entry.event_id = placed.event_id;
  DELETE FROM calendar_shares
   WHERE tenant_id = p_tenant AND calendar_id = ANY (owned) AND grantee_kind = 'user' AND grantee_id = p_to;
  UPDATE calendars
     SET owner_id = p_to, is_default = false, revision = revision + 1, updated_at = clock_timestamp()
   WHERE tenant_id = p_tenant AND id = ANY (owned);
  INSERT INTO outbox (tenant_id, id, type, payload)
  SELECT p_tenant, uuid_v7(), 'calendar.event.updated',
         jsonb_build_object('event_id', event.id, 'revision', event.revision, 'actor_id', p_actor)
    FROM calendar_events event WHERE event.tenant_id = p_tenant AND event.id = ANY (organized);
  RETURN cardinality(owned);
END $$;
