-- The reminders of placements. The clock looks at a placement when `next_reminder_at` has passed; null: it has none to come.
ALTER TABLE calendar_entries
  ADD COLUMN next_reminder_at timestamptz DEFAULT now(),
  -- Reminders up to this moment have been reported.
  ADD COLUMN reminded_until timestamptz NOT NULL DEFAULT now();
CREATE INDEX calendar_entries_reminders ON calendar_entries (next_reminder_at) WHERE next_reminder_at IS NOT NULL;
