-- The alarms of instances that differ from those of their series: see `InstanceAlarms` in calendar.schema.ts.
ALTER TABLE calendar_entries ADD COLUMN instance_alarms jsonb;
