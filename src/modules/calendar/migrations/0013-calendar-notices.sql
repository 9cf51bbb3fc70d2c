-- Reports a grown counter of a calendar like that of a user (sync_heads_grown).
CREATE FUNCTION calendars_grown() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE INFO 'sync.heads' USING ERRCODE = 'WB001', DETAIL = NEW.tenant_id || ' ' || NEW.id || ' ' || NEW.change_seq;
  RETURN NULL;
END $$;
CREATE TRIGGER calendars_grown AFTER UPDATE OF change_seq ON calendars
  FOR EACH ROW WHEN (NEW.change_seq > OLD.change_seq) EXECUTE FUNCTION calendars_grown();
