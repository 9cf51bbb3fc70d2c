-- A function that returns its new number sets `workspace.head_notices` to `off`, and the process reports the number: PostgreSQL sends
-- each notice by a system call of its own, and it wakes the process once more.
DROP TRIGGER sync_heads_inserted ON sync_heads;
DROP TRIGGER sync_heads_updated ON sync_heads;
CREATE TRIGGER sync_heads_inserted AFTER INSERT ON sync_heads
  FOR EACH ROW WHEN (NEW.head > 0 AND current_setting('workspace.head_notices', true) IS DISTINCT FROM 'off')
  EXECUTE FUNCTION sync_heads_grown();
CREATE TRIGGER sync_heads_updated AFTER UPDATE OF head ON sync_heads
  FOR EACH ROW WHEN (NEW.head > OLD.head AND current_setting('workspace.head_notices', true) IS DISTINCT FROM 'off')
  EXECUTE FUNCTION sync_heads_grown();
