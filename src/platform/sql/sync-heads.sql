-- Counters of change feeds, one for each user and address book.

-- Locks the counters of these users until the end of the transaction, in the order of their ids.
CREATE FUNCTION lock_heads(p_tenant uuid, p_users uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sync_heads AS counter (tenant_id, user_id, head)
  SELECT DISTINCT p_tenant, user_id, 0 FROM unnest(p_users) AS user_id ORDER BY user_id
  ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = counter.head;
END $$;

-- Allocates numbers of one feed. Returns the last of them.
CREATE FUNCTION advance_head(p_tenant uuid, p_user uuid, p_count int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_head bigint;
BEGIN
  INSERT INTO sync_heads AS counter (tenant_id, user_id, head) VALUES (p_tenant, p_user, p_count)
  ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = counter.head + excluded.head
  RETURNING head INTO v_head;
  RETURN v_head;
END $$;
