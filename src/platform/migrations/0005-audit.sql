-- Who did what to which object. A row commits with the change it tells of and is never changed afterwards.
-- Ids are UUIDv7 and `occurred_at` is the time inside them: reading by time is reading by key, and the table can be split
-- into partitions by ranges of `id` without another key.
CREATE TABLE audit_log (
  -- The nil UUID where no workspace is concerned (a person's account).
  tenant_id    uuid           NOT NULL,
  id           uuid           NOT NULL,
  occurred_at  timestamptz(3) NOT NULL,
  -- Where it came from; without an actor it was the operator (cli) or the service itself (job).
  origin       text           NOT NULL CHECK (origin IN ('api', 'cli', 'job')),
  actor_id     uuid,
  session_id   uuid,
  request_id   text,
  ip           text,
  action       text           NOT NULL,
  object_kind  text           NOT NULL,
  object_id    text,
  data         jsonb          NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_log_actor ON audit_log (tenant_id, actor_id, id);
CREATE INDEX audit_log_action ON audit_log (tenant_id, action, id);
CREATE INDEX audit_log_object ON audit_log (tenant_id, object_kind, object_id, id);
-- For the retention: a few kilobytes, since rows lie in the order of time.
CREATE INDEX audit_log_age ON audit_log USING brin (occurred_at);

CREATE FUNCTION audit_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND old.occurred_at < now() - interval '29 days' THEN RETURN old; END IF;
  RAISE EXCEPTION 'the audit log is append-only';
END $$;

CREATE TRIGGER audit_log_no_rewrite BEFORE UPDATE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION audit_log_is_append_only();
CREATE TRIGGER audit_log_no_removal BEFORE DELETE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION audit_log_is_append_only();
