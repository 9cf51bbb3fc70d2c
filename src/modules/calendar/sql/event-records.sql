-- Events as the application reads them: the row, its attendees and its overrides. Counts in the row save
-- look-ups of parts that do not exist.
CREATE VIEW event_records AS
SELECT event.tenant_id, event.id, event.status, event.title_key, event.updated_at, event.deleted_at,
       row_to_json(event) AS event,
       CASE WHEN event.participants_count > 0 THEN (
         SELECT json_agg(row_to_json(participant)) FROM (
           SELECT recurrence_key, email, user_id, name, role, kind, response, rsvp, comment, responded_at,
                  reply_sequence, reply_dtstamp, delegated_to, delegated_from, schedule_status,
                  uninvited, removed
             FROM event_participants
            WHERE tenant_id = event.tenant_id AND event_id = event.id ORDER BY recurrence_key, email) participant)
       END AS participants,
       CASE WHEN event.overrides_count > 0 THEN (
         SELECT json_agg(row_to_json(override)) FROM (
           SELECT recurrence_key, patch, sequence, dtstamp FROM event_overrides
            WHERE tenant_id = event.tenant_id AND event_id = event.id ORDER BY recurrence_key) override)
       END AS overrides
  FROM calendar_events event;

-- Locks an event of a calendar until the end of the transaction, then reads it: attendees and overrides as of the lock.
-- @returns one row; the calendar is null without access, the event where the calendar does not contain it
CREATE FUNCTION event_lock(p_tenant uuid, p_calendar uuid, p_event uuid, p_user uuid)
RETURNS TABLE (calendar json, role calendar_role, locale text, event json, participants json, overrides json, entries json)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT row_to_json(context), calendar_role_of(p_tenant, context.id, context.owner_id, p_user), own.locale
    INTO calendar, role, locale
    FROM calendar_contexts context LEFT JOIN member_locales own ON own.tenant_id = p_tenant AND own.user_id = p_user
   WHERE context.tenant_id = p_tenant AND context.id = p_calendar;
  IF role IS NULL OR NOT EXISTS (SELECT FROM calendar_entries entry WHERE entry.tenant_id = p_tenant
                                    AND entry.calendar_id = p_calendar AND entry.event_id = p_event) THEN
    RETURN NEXT;
    RETURN;
  END IF;
  PERFORM FROM calendar_events stored WHERE stored.tenant_id = p_tenant AND stored.id = p_event FOR NO KEY UPDATE;
  SELECT record.event, record.participants, record.overrides,
         (SELECT json_agg(json_build_object(
                   'calendar_id', entry.calendar_id, 'event_id', entry.event_id, 'uid', entry.uid,
                   'span_start', entry.span_start, 'span_end', entry.span_end, 'wide', entry.wide,
                   'response', entry.response, 'show_as', entry.show_as, 'color', entry.color,
                   'reminders', entry.reminders, 'alarms', entry.alarms, 'instance_alarms', entry.instance_alarms,
                   'hidden', entry.hidden, 'owner_id', owned.owner_id))
            FROM calendar_entries entry
            JOIN calendars owned ON owned.tenant_id = entry.tenant_id AND owned.id = entry.calendar_id
           WHERE entry.tenant_id = p_tenant AND entry.event_id = p_event)
    INTO event, participants, overrides, entries
    FROM event_records record WHERE record.tenant_id = p_tenant AND record.id = p_event;
  RETURN NEXT;
END $$;
