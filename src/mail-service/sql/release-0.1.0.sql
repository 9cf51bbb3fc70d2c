-- Signatures that processes of release 0.1.0 call (CONTRIBUTING.md, "Change the schema"). They are dropped with the next recorded release.

CREATE FUNCTION flag_messages(p_user text, p_box text, p_uids bigint[], p_low bigint, p_high bigint,
  p_seen boolean, p_flagged boolean, p_deleted boolean, p_meta jsonb, p_expires timestamptz, p_keep boolean)
RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  RETURN flag_messages(p_user, p_box, p_uids, p_low, p_high,
    jsonb_build_object('seen', p_seen, 'flagged', p_flagged, 'deleted', p_deleted, 'metaData', p_meta)
    || CASE WHEN p_keep OR p_expires IS NOT NULL
            THEN jsonb_build_object('expires', CASE WHEN NOT p_keep THEN p_expires END) ELSE '{}' END);
END $$;

-- The release sends the same time as `p_date` and `p_due`.
CREATE FUNCTION submit_draft(p_user text, p_box text, p_uid bigint, p_queue text, p_sender text, p_recipients text[],
  p_raw text, p_date timestamptz, p_due timestamptz, p_limit int)
RETURNS TABLE (outcome text, mailbox text, uid bigint, size bigint, seconds int)
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM submit_draft(p_user, p_box, p_uid, jsonb_build_object('queueId', p_queue, 'sender', p_sender,
    'recipients', p_recipients, 'rawId', p_raw, 'date', p_date, 'limit', p_limit));
END $$;
