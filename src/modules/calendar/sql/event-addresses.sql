-- Organizers and attendees of the events in a user's own calendars, once for each calendar, event and address.
CREATE VIEW event_addresses AS
SELECT calendar.tenant_id, calendar.owner_id AS user_id, event.id AS event_id, person.email, person.name, event.updated_at AS seen_at
  FROM calendars calendar
  JOIN calendar_entries entry ON entry.tenant_id = calendar.tenant_id AND entry.calendar_id = calendar.id
  JOIN calendar_events event ON event.tenant_id = entry.tenant_id AND event.id = entry.event_id AND event.deleted_at IS NULL
 CROSS JOIN LATERAL (
   SELECT lower(event.organizer_email) AS email, event.organizer_name AS name
    UNION ALL
   SELECT participant.email, participant.name FROM event_participants participant
    WHERE participant.tenant_id = event.tenant_id AND participant.event_id = event.id AND participant.recurrence_key = ''
      AND participant.kind = 'person' AND participant.email <> lower(event.organizer_email)) AS person;
