-- The number that the process of its writer reports itself, in place of a notice: PostgreSQL sends each notice by a system call of its
-- own, and it wakes the process once more.
ALTER TABLE sync_heads ADD COLUMN reported_head bigint;
DROP TRIGGER sync_heads_inserted ON sync_heads;
DROP TRIGGER sync_heads_updated ON sync_heads;
CREATE TRIGGER sync_heads_inserted AFTER INSERT ON sync_heads
  FOR EACH ROW WHEN (NEW.head > 0 AND NEW.head IS DISTINCT FROM NEW.reported_head) EXECUTE FUNCTION sync_heads_grown();
CREATE TRIGGER sync_heads_updated AFTER UPDATE OF head ON sync_heads
  FOR EACH ROW WHEN (NEW.head > OLD.head AND NEW.head IS DISTINCT FROM NEW.reported_head) EXECUTE FUNCTION sync_heads_grown();
