-- Writes the row of an event. @returns false where another event has the id
CREATE FUNCTION event_put(p_event calendar_events, p_is_new boolean) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF p_is_new THEN
    INSERT INTO calendar_events VALUES (p_event.*) ON CONFLICT DO NOTHING;
    RETURN FOUND;
  END IF;
  UPDATE calendar_events
     SET origin_calendar_id = p_event.origin_calendar_id, organizer_id = p_event.organizer_id,
         organizer_email = p_event.organizer_email, organizer_name = p_event.organizer_name, origin = p_event.origin,
         title = p_event.title, description = p_event.description, location = p_event.location,
         locations = p_event.locations, starts = p_event.starts, ends = p_event.ends, time_zone = p_event.time_zone,
         end_time_zone = p_event.end_time_zone, exact_duration = p_event.exact_duration, rules = p_event.rules,
         added = p_event.added, excluded = p_event.excluded, status = p_event.status, show_as = p_event.show_as,
         visibility = p_event.visibility, color = p_event.color, categories = p_event.categories,
         conference = p_event.conference, links = p_event.links, custom = p_event.custom,
         imported = coalesce(p_event.imported, calendar_events.imported),
         proposals_allowed = p_event.proposals_allowed, sequence = p_event.sequence, dtstamp = p_event.dtstamp,
         split_from = p_event.split_from, participants_count = p_event.participants_count,
         overrides_count = p_event.overrides_count, title_key = p_event.title_key, revision = p_event.revision,
         updated_by = p_event.updated_by, updated_at = p_event.updated_at, deleted_at = p_event.deleted_at
   WHERE tenant_id = p_event.tenant_id AND id = p_event.id;
  RETURN FOUND;
END $$;

-- Writes the parts of an event that the change contains. Attendees and overrides of the change replace the stored ones; equal
-- rows stay untouched.
CREATE FUNCTION event_put_parts(p_tenant uuid, p_event uuid, p_change jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  c_key constant jsonb := jsonb_build_object('tenant_id', p_tenant, 'event_id', p_event);
  c_participant constant event_participants :=
    jsonb_populate_record(NULL::event_participants, c_key || '{"uninvited": false, "removed": false}');
  c_override constant event_overrides := jsonb_populate_record(NULL::event_overrides, c_key);
  c_proposal constant event_proposals := jsonb_populate_record(NULL::event_proposals, c_key);
BEGIN
  -- Processes of the previous release do not know `removed`: what stays declined stays removed.
  IF p_change->'participants' @? '$[*] ? (!exists(@.removed))' THEN
    p_change := jsonb_set(p_change, '{participants}', (
      SELECT jsonb_agg(jsonb_build_object('removed', part->>'response' = 'declined' AND EXISTS (
               SELECT FROM event_participants stored
                WHERE stored.tenant_id = p_tenant AND stored.event_id = p_event AND stored.removed
                  AND stored.recurrence_key = part->>'recurrence_key' AND stored.email = part->>'email')) || part)
        FROM jsonb_array_elements(p_change->'participants') AS part));
  END IF;
  IF p_change ? 'participants' THEN
    DELETE FROM event_participants stored
     WHERE stored.tenant_id = p_tenant AND stored.event_id = p_event
       AND NOT EXISTS (SELECT FROM jsonb_populate_recordset(c_participant, p_change->'participants') AS kept
                        WHERE kept.recurrence_key = stored.recurrence_key AND kept.email = stored.email
                          AND kept IS NOT DISTINCT FROM stored);
    INSERT INTO event_participants
    SELECT part.* FROM jsonb_populate_recordset(c_participant, p_change->'participants') AS part
    ON CONFLICT DO NOTHING;
  END IF;
  IF p_change ? 'overrides' THEN
    DELETE FROM event_overrides WHERE tenant_id = p_tenant AND event_id = p_event;
    INSERT INTO event_overrides
    SELECT part.* FROM jsonb_populate_recordset(c_override, p_change->'overrides') AS part;
  END IF;
  IF p_change ? 'proposals' THEN
    INSERT INTO event_proposals AS stored
    SELECT part.* FROM jsonb_populate_recordset(c_proposal, p_change->'proposals') AS part
    ON CONFLICT (tenant_id, id) DO UPDATE SET status = excluded.status;
  END IF;
  IF p_change ? 'history' THEN
    INSERT INTO event_history
    SELECT entry.* FROM jsonb_populate_record(NULL::event_history, (p_change->'history') || c_key) AS entry;
  END IF;
END $$;

-- Writes the placements of an event and numbers them in the feeds of their calendars.
-- @param p_before the number of the event in each feed is the counter of the calendar minus p_before
CREATE FUNCTION event_put_entries(p_tenant uuid, p_event uuid, p_change jsonb, p_before int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  c_removed constant uuid[] := ARRAY(SELECT jsonb_array_elements_text(p_change->'removed')::uuid);
  c_placed constant uuid[] := ARRAY(SELECT (jsonb_array_elements(p_change->'entries')->>'calendar_id')::uuid);
  c_same_tags constant uuid[] := ARRAY(SELECT jsonb_array_elements_text(p_change->'same_tags')::uuid);
  c_has_tag constant boolean := coalesce((p_change#>>'{row,participants_count}')::int, 0) > 0;
BEGIN
  IF cardinality(c_removed) > 0 THEN
    WITH removed AS (
      DELETE FROM calendar_entries WHERE tenant_id = p_tenant AND event_id = p_event AND calendar_id = ANY (c_removed)
      RETURNING calendar_id, uid)
    INSERT INTO entry_tombstones AS tombstone (tenant_id, calendar_id, event_id, uid, change_seq, deleted_at)
    SELECT p_tenant, removed.calendar_id, p_event, removed.uid, calendar.change_seq - p_before, clock_timestamp()
      FROM removed JOIN calendars calendar ON calendar.tenant_id = p_tenant AND calendar.id = removed.calendar_id
    ON CONFLICT (tenant_id, calendar_id, event_id)
    DO UPDATE SET change_seq = excluded.change_seq, uid = excluded.uid, deleted_at = excluded.deleted_at;
  END IF;
  DELETE FROM entry_tombstones
   WHERE tenant_id = p_tenant AND event_id = p_event AND calendar_id = ANY (c_placed);
  -- A deleted meeting stays with its attendees until it is purged. The meeting that its organizer makes again with the uid takes its place
  -- in calendars that do not have it yet; the removal has the number of the event, which gets the next one.
  IF cardinality(c_placed) > 1 THEN
    WITH replaced AS (
      DELETE FROM calendar_entries old USING calendar_events event
       WHERE old.tenant_id = p_tenant AND old.uid = (p_change#>>'{row,uid}') AND old.event_id <> p_event
         AND old.calendar_id = ANY (ARRAY(
               SELECT unnest(c_placed) EXCEPT
               SELECT calendar_id FROM calendar_entries WHERE tenant_id = p_tenant AND event_id = p_event))
         AND event.tenant_id = p_tenant AND event.id = old.event_id AND event.deleted_at IS NOT NULL
         AND coalesce(event.organizer_id::text, event.organizer_email)
             = coalesce(p_change#>>'{row,organizer_id}', p_change#>>'{row,organizer_email}')
      RETURNING old.calendar_id, old.event_id, old.uid),
    numbered AS (
      UPDATE calendars SET change_seq = change_seq + 1
       WHERE tenant_id = p_tenant AND id IN (SELECT calendar_id FROM replaced)
      RETURNING id, change_seq - 1 - p_before AS place)
    INSERT INTO entry_tombstones (tenant_id, calendar_id, event_id, uid, change_seq, deleted_at)
    SELECT p_tenant, replaced.calendar_id, replaced.event_id, replaced.uid, numbered.place, clock_timestamp()
      FROM replaced JOIN numbered ON numbered.id = replaced.calendar_id
    ON CONFLICT (tenant_id, calendar_id, event_id)
    DO UPDATE SET change_seq = excluded.change_seq, uid = excluded.uid, deleted_at = excluded.deleted_at;
  END IF;
  -- A calendar that has the uid already, from a file or from a mail, keeps its own event. The look-up is no join: the planner
  -- expects a hundred entries, and would scan all placements of the workspace for a join.
  INSERT INTO calendar_entries AS stored (tenant_id, calendar_id, event_id, uid, span_start, span_end, wide, response,
                                          show_as, color, reminders, alarms, instance_alarms, hidden, change_seq,
                                          schedule_seq, next_reminder_at)
  SELECT p_tenant, entry.calendar_id, p_event, entry.uid, entry.span_start, entry.span_end, entry.wide, entry.response,
         entry.show_as, entry.color, entry.reminders, entry.alarms, entry.instance_alarms, entry.hidden,
         calendar.change_seq - p_before,
         CASE WHEN c_has_tag THEN calendar.change_seq - p_before ELSE 0 END,
         CASE WHEN NOT entry.hidden AND entry.span_end > now() THEN now() END
    FROM jsonb_populate_recordset(NULL::calendar_entries, p_change->'entries') AS entry
    JOIN calendars calendar ON calendar.tenant_id = p_tenant AND calendar.id = entry.calendar_id
   WHERE (SELECT other.event_id FROM calendar_entries other
           WHERE other.tenant_id = p_tenant AND other.calendar_id = entry.calendar_id
             AND other.uid = entry.uid AND other.event_id <> p_event LIMIT 1) IS NULL
  ON CONFLICT (tenant_id, calendar_id, event_id) DO UPDATE
    SET span_start = excluded.span_start, span_end = excluded.span_end, wide = excluded.wide,
        response = excluded.response, show_as = excluded.show_as, color = excluded.color,
        reminders = excluded.reminders, alarms = coalesce(excluded.alarms, stored.alarms),
        instance_alarms = coalesce(excluded.instance_alarms, stored.instance_alarms), hidden = excluded.hidden,
        change_seq = excluded.change_seq,
        schedule_seq = CASE WHEN excluded.calendar_id = ANY (c_same_tags) THEN coalesce(stored.schedule_seq, stored.change_seq)
                            ELSE excluded.schedule_seq END,
        next_reminder_at = excluded.next_reminder_at;
END $$;

-- Gives new feed numbers to the placements of these events and to all placements in these calendars. The caller has locked the
-- calendars. Leaves out the calendar p_except.
CREATE FUNCTION calendars_renumber(p_tenant uuid, p_events uuid[], p_calendars uuid[], p_except uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH placed AS (
    SELECT calendar_id, event_id, row_number() OVER (PARTITION BY calendar_id ORDER BY event_id) AS place
      FROM calendar_entries
     WHERE tenant_id = p_tenant AND (event_id = ANY (p_events) OR calendar_id = ANY (p_calendars))
       AND calendar_id IS DISTINCT FROM p_except),
  counted AS (
    UPDATE calendars SET change_seq = change_seq + total FROM (
      SELECT calendar_id, count(*) AS total FROM placed GROUP BY calendar_id) AS totals
     WHERE calendars.tenant_id = p_tenant AND calendars.id = totals.calendar_id
    RETURNING calendars.id, calendars.change_seq - totals.total AS before)
  UPDATE calendar_entries entry
     SET change_seq = counted.before + placed.place,
         schedule_seq = CASE WHEN entry.schedule_seq <> 0 THEN counted.before + placed.place ELSE entry.schedule_seq END
    FROM placed JOIN counted ON counted.id = placed.calendar_id
   WHERE entry.tenant_id = p_tenant AND entry.calendar_id = placed.calendar_id AND entry.event_id = placed.event_id;
END $$;

-- Appends one event of this type to the outbox for each of these calendar events.
CREATE FUNCTION events_report(p_tenant uuid, p_events uuid[], p_type text, p_actor uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (tenant_id, id, type, payload)
  SELECT p_tenant, uuid_v7(), p_type,
         jsonb_build_object('event_id', event.id, 'revision', event.revision, 'actor_id', p_actor)
    FROM calendar_events event WHERE event.tenant_id = p_tenant AND event.id = ANY (p_events);
END $$;

-- Whether calendars have no room for further events. Each placement took a number of its calendar, so a calendar has at most
-- `change_seq` of them. Only where that is more than the quota are they counted; the calendar keeps the result, and has one more at most
-- for each later number. The caller holds the locks of the calendars.
-- @param p_added the calendar of each further event
CREATE FUNCTION calendars_are_full(p_tenant uuid, p_added uuid[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  target record;
BEGIN
  FOR target IN
    SELECT calendar.id, added.total, (
             SELECT count(*) FROM (
               SELECT FROM calendar_entries entry WHERE entry.tenant_id = p_tenant AND entry.calendar_id = calendar.id
                LIMIT row_quota('item.events_of_calendar') + 1) placed) AS entries
      FROM (SELECT id, count(*) AS total FROM unnest(p_added) AS id GROUP BY id) AS added
      JOIN calendars calendar ON calendar.tenant_id = p_tenant AND calendar.id = added.id
     WHERE calendar.change_seq - calendar.counted_seq + calendar.counted_entries + added.total > row_quota('item.events_of_calendar') LOOP
    IF target.entries + target.total > row_quota('item.events_of_calendar') THEN RETURN true; END IF;
    UPDATE calendars SET counted_entries = target.entries, counted_seq = change_seq WHERE tenant_id = p_tenant AND id = target.id;
  END LOOP;
  RETURN false;
END $$;

-- Writes events with their placements, feed numbers, history and outbox events. The caller holds the locks of existing events.
-- Order of locks: events, then calendars by id.
-- @param p_write calendars: all calendars whose placements change; added: the calendar of each event that is created or moved;
--   events: row, is_new, entries, removed, and optionally participants, overrides, proposals, history, moved_to (the calendar into
--   which an attendee moves it), same_tags (calendars whose owners the change, a response of somebody else, does not concern), writer (a user who needs the right to write in the calendar of the event); outbox: type and payload
-- @returns ok, already_exists, calendar_full (nothing is written), calendar_deleted, not_found if the first event is new and its
--   calendar was deleted, not_found or forbidden for the writer, or duplicate_uid with the id of the other event
CREATE FUNCTION calendar_write(p_tenant uuid, p_write jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c_calendars constant uuid[] := ARRAY(SELECT DISTINCT jsonb_array_elements_text(p_write->'calendars')::uuid);
  c_count constant int := jsonb_array_length(p_write->'events');
  change jsonb;
  event calendar_events;
  writer_role calendar_role;
  other uuid;
  locked int;
  is_near_quota boolean;
  before int := c_count;
BEGIN
  SELECT count(*), bool_or(held.bound + jsonb_array_length(p_write->'added') > row_quota('item.events_of_calendar'))
    INTO locked, is_near_quota
    FROM (
      SELECT change_seq - counted_seq + counted_entries AS bound FROM calendars
       WHERE tenant_id = p_tenant AND id = ANY (c_calendars) ORDER BY id FOR NO KEY UPDATE) AS held;
  IF locked <> cardinality(c_calendars) THEN
    RETURN CASE WHEN (p_write#>>'{events,0,is_new}')::boolean AND NOT EXISTS (
                  SELECT FROM calendars
                   WHERE tenant_id = p_tenant AND id = (p_write#>>'{events,0,row,origin_calendar_id}')::uuid)
                THEN 'not_found' ELSE 'calendar_deleted' END;
  END IF;
  -- Processes of the previous release do not name added events.
  IF is_near_quota AND calendars_are_full(p_tenant, ARRAY(SELECT jsonb_array_elements_text(p_write->'added')::uuid)) THEN
    RETURN 'calendar_full';
  END IF;
  FOR change IN SELECT jsonb_array_elements(p_write->'events') LOOP
    event := jsonb_populate_record(NULL::calendar_events, change->'row');
    event.tenant_id := p_tenant;
    IF change ? 'writer' THEN
      writer_role := (SELECT calendar_role_of(p_tenant, id, owner_id, (change->>'writer')::uuid)
                        FROM calendars WHERE tenant_id = p_tenant AND id = event.origin_calendar_id);
      IF writer_role IS NULL THEN RETURN 'not_found'; END IF;
      IF writer_role < 'writer' THEN RETURN 'forbidden'; END IF;
    END IF;
    SELECT entry.event_id INTO other FROM calendar_entries entry
     WHERE entry.tenant_id = p_tenant AND entry.calendar_id IN (event.origin_calendar_id, (change->>'moved_to')::uuid)
       AND entry.uid = event.uid AND entry.event_id <> event.id;
    IF FOUND THEN RETURN 'duplicate_uid ' || other; END IF;
    IF NOT event_put(event, (change->>'is_new')::boolean) THEN RETURN 'already_exists'; END IF;
  END LOOP;
  UPDATE calendars SET change_seq = change_seq + c_count WHERE tenant_id = p_tenant AND id = ANY (c_calendars);
  FOR change IN SELECT jsonb_array_elements(p_write->'events') LOOP
    before := before - 1;
    PERFORM event_put_parts(p_tenant, (change->'row'->>'id')::uuid, change);
    PERFORM event_put_entries(p_tenant, (change->'row'->>'id')::uuid, change, before);
  END LOOP;
  INSERT INTO outbox (tenant_id, id, type, payload)
  SELECT p_tenant, uuid_v7(), message->>'type', message->'payload' FROM jsonb_array_elements(p_write->'outbox') AS message;
  RETURN 'ok';
END $$;

-- Deletes events that their organizers deleted before this time, oldest first. Participants get removals in their feeds.
-- @returns their number
CREATE FUNCTION calendar_purge(p_before timestamptz, p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  due calendar_events[] := ARRAY(
    SELECT event FROM calendar_events event WHERE deleted_at < p_before
     ORDER BY deleted_at LIMIT p_limit FOR UPDATE SKIP LOCKED);
  event calendar_events;
BEGIN
  PERFORM FROM calendars WHERE (tenant_id, id) IN (
      SELECT entry.tenant_id, entry.calendar_id FROM unnest(due) AS purged
        JOIN calendar_entries entry ON entry.tenant_id = purged.tenant_id AND entry.event_id = purged.id)
    ORDER BY tenant_id, id FOR NO KEY UPDATE;
  FOREACH event IN ARRAY due LOOP
    UPDATE calendars SET change_seq = calendars.change_seq + 1 FROM calendar_entries entry
     WHERE calendars.tenant_id = event.tenant_id AND entry.tenant_id = event.tenant_id
       AND entry.calendar_id = calendars.id AND entry.event_id = event.id;
    PERFORM event_put_entries(event.tenant_id, event.id, jsonb_build_object('entries', '[]'::jsonb, 'removed', coalesce((
      SELECT jsonb_agg(calendar_id) FROM calendar_entries
       WHERE tenant_id = event.tenant_id AND event_id = event.id), '[]')), 0);
    DELETE FROM calendar_events WHERE tenant_id = event.tenant_id AND id = event.id;
  END LOOP;
  RETURN cardinality(due);
END $$;
