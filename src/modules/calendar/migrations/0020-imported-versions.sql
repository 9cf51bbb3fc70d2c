-- What the last import of an event took from its file: see `ImportedVersion` in model/event-record.ts. Null: the event is no import.
ALTER TABLE calendar_events ADD COLUMN imported jsonb;
