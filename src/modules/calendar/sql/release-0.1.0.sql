-- Functions that processes of release 0.1.0 call (CONTRIBUTING.md, "Change the schema"). Delete the file when a later release is
-- recorded.

-- Deletes tombstones from before this time; cursors below them expire. Calendars are locked first, as writers of events do.
CREATE FUNCTION calendar_forget_tombstones(p_before timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM calendars
    WHERE (tenant_id, id) IN (SELECT tenant_id, calendar_id FROM entry_tombstones WHERE deleted_at < p_before)
    ORDER BY tenant_id, id FOR NO KEY UPDATE;
  WITH forgotten AS (
    DELETE FROM entry_tombstones WHERE deleted_at < p_before RETURNING tenant_id, calendar_id, change_seq),
  highest AS (SELECT tenant_id, calendar_id, max(change_seq) AS seq FROM forgotten GROUP BY 1, 2)
  UPDATE calendars SET floor_seq = greatest(floor_seq, highest.seq)
    FROM highest WHERE calendars.tenant_id = highest.tenant_id AND calendars.id = highest.calendar_id;
END $$;
