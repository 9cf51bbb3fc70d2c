-- Functions that processes of release 0.1.0 call (CONTRIBUTING.md, "Change the schema"). Delete the file when a later release is
-- recorded. Without rules of time zones, those of PostgreSQL apply.

CREATE FUNCTION tasks_remind(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  RETURN tasks_send_reminders(p_limit, NULL);
END $$;

CREATE FUNCTION tasks_fall_due(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  RETURN tasks_pass_due(p_limit, NULL);
END $$;
