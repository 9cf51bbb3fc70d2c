-- Reports a grown counter to the connection that writes it (`CommitNotices`), which wakes the waiting requests of all processes
-- after the commit. INFO reaches the client at any value of client_min_messages.
CREATE FUNCTION sync_heads_grown() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE INFO 'sync.heads' USING ERRCODE = 'WB001', DETAIL = NEW.tenant_id || ' ' || NEW.user_id || ' ' || NEW.head;
  RETURN NULL;
END $$;
CREATE TRIGGER sync_heads_inserted AFTER INSERT ON sync_heads
  FOR EACH ROW WHEN (NEW.head > 0) EXECUTE FUNCTION sync_heads_grown();
CREATE TRIGGER sync_heads_updated AFTER UPDATE OF head ON sync_heads
  FOR EACH ROW WHEN (NEW.head > OLD.head) EXECUTE FUNCTION sync_heads_grown();
