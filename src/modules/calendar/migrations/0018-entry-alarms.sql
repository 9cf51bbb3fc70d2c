-- VALARMs of an attendee that are no reminders, such as those after the start, in the placement of the attendee. Those of the organizer
-- are in `custom` of the event.
ALTER TABLE calendar_entries ADD COLUMN alarms jsonb;
