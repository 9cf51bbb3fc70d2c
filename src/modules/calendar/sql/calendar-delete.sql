-- Cancels the events that are organized in a calendar. The caller has locked the calendar and the events. Attendees of the workspace
-- keep the events as cancelled; other attendees get a message. An event of an organizer outside of the workspace is deleted if no
-- other calendar contains it. It keeps the status and the version of its organizer, because only the organizer raises SEQUENCE
-- (RFC 5546, section 2.1.4): the next message about it restores it.
CREATE FUNCTION calendar_cancel_all(p_tenant uuid, p_calendar uuid, p_actor uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  organized uuid[];
BEGIN
  organized := ARRAY(
    SELECT event.id FROM calendar_entries entry
      JOIN calendar_events event ON event.tenant_id = entry.tenant_id AND event.id = entry.event_id
     WHERE entry.tenant_id = p_tenant AND entry.calendar_id = p_calendar AND event.origin_calendar_id = p_calendar
       AND event.deleted_at IS NULL
       AND (event.origin <> 'external' OR NOT EXISTS (
         SELECT FROM calendar_entries other
          WHERE other.tenant_id = p_tenant AND other.event_id = event.id AND other.calendar_id <> p_calendar)));
  UPDATE calendar_events
     SET status = CASE WHEN origin = 'external' THEN status ELSE 'cancelled' END,
         dtstamp = CASE WHEN origin = 'external' THEN dtstamp ELSE clock_timestamp() END,
         sequence = sequence + (origin <> 'external')::int, deleted_at = clock_timestamp(),
         revision = revision + 1, updated_at = clock_timestamp(), updated_by = p_actor
   WHERE tenant_id = p_tenant AND id = ANY (organized);
  PERFORM calendars_renumber(p_tenant, organized, '{}', p_calendar);
  PERFORM events_report(p_tenant, organized, 'calendar.event.deleted', p_actor);
  INSERT INTO outbox (tenant_id, id, type, payload)
  SELECT p_tenant, uuid_v7(), 'calendar.message.due',
         jsonb_build_object('event_id', event.id, 'revision', event.revision, 'actor_id', p_actor, 'method', 'CANCEL',
                            'recurrence_key', participant.recurrence_key, 'sequence', event.sequence, 'dtstamp', rfc3339(event.dtstamp),
                            'recipient', participant.email, 'comment', '', 'proposal_id', NULL)
    FROM calendar_events event
    JOIN event_participants participant
      ON participant.tenant_id = event.tenant_id AND participant.event_id = event.id
     -- Attendees of some instances only get a message about each of them.
     AND (participant.recurrence_key = '' OR NOT participant.uninvited AND NOT EXISTS (
           SELECT FROM event_participants whole
            WHERE whole.tenant_id = event.tenant_id AND whole.event_id = event.id AND whole.recurrence_key = ''
              AND whole.email = participant.email))
   WHERE event.tenant_id = p_tenant AND event.id = ANY (organized) AND participant.user_id IS NULL;
END $$;

-- Moves all placements of a calendar to another one; the caller has locked them, and has rejected those with a uid that another event
-- of the other calendar has. Those of cancelled events stay.
-- @raises WB002 where the other calendar has no room for them
-- An event that both calendars contain, because its organizer is also an attendee, gets the other calendar as its origin.
CREATE FUNCTION calendar_move_all(p_tenant uuid, p_calendar uuid, p_target uuid, p_actor uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moved constant uuid[] := ARRAY(
    SELECT entry.event_id FROM calendar_entries entry
     WHERE entry.tenant_id = p_tenant AND entry.calendar_id = p_calendar AND NOT EXISTS (
       SELECT FROM calendar_entries other WHERE other.tenant_id = p_tenant AND other.calendar_id = p_target
          AND (other.uid = entry.uid OR other.event_id = entry.event_id)));
  in_both constant uuid[] := ARRAY(
    SELECT entry.event_id FROM calendar_entries entry
      JOIN calendar_events event ON event.tenant_id = p_tenant AND event.id = entry.event_id AND event.origin_calendar_id = p_calendar
      JOIN calendar_entries other ON other.tenant_id = p_tenant AND other.calendar_id = p_target AND other.event_id = entry.event_id
     WHERE entry.tenant_id = p_tenant AND entry.calendar_id = p_calendar);
BEGIN
  IF calendars_are_full(p_tenant, array_fill(p_target, ARRAY[cardinality(moved)])) THEN
    PERFORM row_quota_exceeded('item.events_of_calendar');
  END IF;
  UPDATE calendars SET change_seq = change_seq + cardinality(moved) WHERE tenant_id = p_tenant AND id = p_target;
  DELETE FROM entry_tombstones WHERE tenant_id = p_tenant AND calendar_id = p_target AND event_id = ANY (moved);
  UPDATE calendar_entries entry
     SET calendar_id = p_target, change_seq = target.change_seq - placed.position + 1,
         schedule_seq = CASE WHEN entry.schedule_seq <> 0 THEN target.change_seq - placed.position + 1 ELSE entry.schedule_seq END,
         -- The default reminders of the calendars may differ.
         next_reminder_at = CASE WHEN NOT entry.hidden AND entry.span_end > now() THEN now() END
    FROM calendars target, unnest(moved) WITH ORDINALITY AS placed (event_id, position)
   WHERE target.tenant_id = p_tenant AND target.id = p_target
     AND entry.tenant_id = p_tenant AND entry.calendar_id = p_calendar AND entry.event_id = placed.event_id;
  UPDATE calendar_events
     SET origin_calendar_id = p_target, revision = revision + 1, updated_at = clock_timestamp(), updated_by = p_actor
   WHERE tenant_id = p_tenant AND id = ANY (moved || in_both) AND origin_calendar_id = p_calendar;
  UPDATE calendar_entries SET hidden = false
   WHERE tenant_id = p_tenant AND calendar_id = p_target AND event_id = ANY (in_both);
  PERFORM calendars_renumber(p_tenant, in_both, '{}', p_calendar);
  PERFORM events_report(p_tenant, moved || in_both, 'calendar.event.updated', p_actor);
END $$;

-- Locks a calendar, the calendar that receives its events (p_target, may be null), the events, and all calendars that contain them.
-- The order is that of every other write: events by id, then calendars by id.
CREATE FUNCTION calendar_lock_all(p_tenant uuid, p_calendar uuid, p_target uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM calendar_entries entry
    JOIN calendar_events event ON event.tenant_id = entry.tenant_id AND event.id = entry.event_id
   WHERE entry.tenant_id = p_tenant AND entry.calendar_id = p_calendar ORDER BY event.id FOR NO KEY UPDATE OF event;
  PERFORM FROM calendars
   WHERE tenant_id = p_tenant AND (id IN (p_calendar, p_target) OR id IN (
     SELECT other.calendar_id FROM calendar_entries entry
       JOIN calendar_entries other ON other.tenant_id = p_tenant AND other.event_id = entry.event_id
      WHERE entry.tenant_id = p_tenant AND entry.calendar_id = p_calendar))
   ORDER BY id FOR UPDATE;
END $$;

-- Deletes a calendar. @param p_target receives its events; null: they are cancelled
CREATE FUNCTION calendar_delete(p_tenant uuid, p_calendar uuid, p_target uuid, p_actor uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- The service already holds these locks. Processes of the previous release do not.
  PERFORM calendar_lock_all(p_tenant, p_calendar, p_target);
  IF p_target IS NOT NULL THEN PERFORM calendar_move_all(p_tenant, p_calendar, p_target, p_actor); END IF;
  PERFORM calendar_cancel_all(p_tenant, p_calendar, p_actor);
  DELETE FROM calendars WHERE tenant_id = p_tenant AND id = p_calendar;
END $$;
