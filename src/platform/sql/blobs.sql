-- Adds to the usage of a workspace and of the uploader; negative numbers for released files. The row of the workspace is locked
-- first. p_user: null when the uploader is unknown or no user.
CREATE FUNCTION file_usage_add(p_tenant uuid, p_user uuid, p_bytes bigint, p_files int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO file_usage AS used (tenant_id, bytes, files) VALUES (p_tenant, greatest(p_bytes, 0), greatest(p_files, 0))
  ON CONFLICT (tenant_id) DO UPDATE
    SET bytes = greatest(used.bytes + p_bytes, 0), files = greatest(used.files + p_files, 0);
  IF p_user IS NULL THEN RETURN; END IF;
  INSERT INTO user_file_usage AS used (tenant_id, user_id, bytes, files)
  VALUES (p_tenant, p_user, greatest(p_bytes, 0), greatest(p_files, 0))
  ON CONFLICT (tenant_id, user_id) DO UPDATE
    SET bytes = greatest(used.bytes + p_bytes, 0), files = greatest(used.files + p_files, 0);
END $$;

-- Keeps a pending blob, to which this transaction adds a reference. Returns false for a blob that the collector has released: its
-- bytes may be deleted.
CREATE FUNCTION blob_keep(p_tenant uuid, p_id uuid, p_size bigint, p_sha256 bytea, p_content_type text)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  uploader uuid;
BEGIN
  UPDATE blobs SET state = 'kept', size = p_size, sha256 = p_sha256, content_type = p_content_type, due_at = NULL
   WHERE tenant_id = p_tenant AND id = p_id AND state = 'pending' RETURNING user_id INTO uploader;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM file_usage_add(p_tenant, uploader, p_size, 1);
  RETURN true;
END $$;

-- Releases blobs, whose last reference this transaction removes.
CREATE FUNCTION blob_release(p_tenant uuid, p_ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  released record;
BEGIN
  FOR released IN
    WITH blob AS (
      UPDATE blobs SET state = 'released', due_at = now()
       WHERE tenant_id = p_tenant AND id = ANY (p_ids) AND state = 'kept' RETURNING user_id, size)
    SELECT user_id, sum(size)::bigint AS bytes, count(*)::int AS files FROM blob GROUP BY user_id ORDER BY user_id
  LOOP
    PERFORM file_usage_add(p_tenant, released.user_id, -released.bytes, -released.files);
  END LOOP;
END $$;

-- Counts the kept files of a workspace and corrects the counters. Returns whether a counter was incorrect.
CREATE FUNCTION file_usage_recount(p_tenant uuid) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  changed int;
  total int := 0;
BEGIN
  PERFORM FROM file_usage WHERE tenant_id = p_tenant FOR NO KEY UPDATE;
  UPDATE file_usage used SET bytes = counted.bytes, files = counted.files
    FROM (SELECT coalesce(sum(size), 0)::bigint AS bytes, count(*)::int AS files
            FROM blobs WHERE tenant_id = p_tenant AND state = 'kept') AS counted
   WHERE used.tenant_id = p_tenant AND (used.bytes, used.files) <> (counted.bytes, counted.files);
  GET DIAGNOSTICS changed = ROW_COUNT;
  total := total + changed;
  INSERT INTO user_file_usage AS used (tenant_id, user_id, bytes, files)
  SELECT p_tenant, user_id, sum(size), count(*) FROM blobs
   WHERE tenant_id = p_tenant AND state = 'kept' AND user_id IS NOT NULL GROUP BY user_id
  ON CONFLICT (tenant_id, user_id) DO UPDATE SET bytes = excluded.bytes, files = excluded.files
   WHERE (used.bytes, used.files) <> (excluded.bytes, excluded.files);
  GET DIAGNOSTICS changed = ROW_COUNT;
  total := total + changed;
  DELETE FROM user_file_usage used WHERE tenant_id = p_tenant AND NOT EXISTS (
    SELECT FROM blobs WHERE tenant_id = p_tenant AND state = 'kept' AND user_id = used.user_id);
  RETURN total > 0;
END $$;
