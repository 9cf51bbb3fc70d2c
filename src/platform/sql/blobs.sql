-- Something refers to the blob from this transaction on. False: the collector was faster, its bytes may be gone.
CREATE FUNCTION blob_keep(p_tenant uuid, p_id uuid, p_size bigint, p_sha256 bytea, p_content_type text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE blobs SET state = 'kept', size = p_size, sha256 = p_sha256, content_type = p_content_type, due_at = NULL
   WHERE tenant_id = p_tenant AND id = p_id AND state = 'pending';
  RETURN FOUND;
END $$;

-- Nothing refers to these blobs any more once this transaction has committed.
CREATE FUNCTION blob_release(p_tenant uuid, p_ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE blobs SET state = 'released', due_at = now()
   WHERE tenant_id = p_tenant AND id = ANY (p_ids) AND state = 'kept';
END $$;
