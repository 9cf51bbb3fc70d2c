-- The user is locked FOR NO KEY UPDATE. A transaction that updates one mailbox twice, as a move with flags does, has its
-- reference to the user checked again with the mailbox locked already, by FOR KEY SHARE: against FOR UPDATE of the user,
-- held by one who waits for the mailbox, that was a deadlock. All else is as in 0002.

-- Deletes messages: those of the list, or all of the mailbox when it is null. @returns how many
CREATE OR REPLACE FUNCTION delete_messages(p_user text, p_box text, p_uids bigint[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
  gone_unseen bigint;
  gone_size bigint;
  gone_raws text[];
BEGIN
  PERFORM FROM users u WHERE u.id = p_user FOR NO KEY UPDATE;
  PERFORM FROM mailboxes b WHERE b.user_id = p_user AND b.id = p_box FOR UPDATE;
  WITH done AS (
    DELETE FROM messages t WHERE t.user_id = p_user AND t.mailbox_id = p_box AND (p_uids IS NULL OR t.uid = ANY (p_uids))
    RETURNING t.seen, t.size, t.raw_id
  )
  SELECT count(*), count(*) FILTER (WHERE NOT seen), coalesce(sum(size), 0), array_agg(raw_id)
  INTO gone, gone_unseen, gone_size, gone_raws FROM done;
  IF gone > 0 THEN
    UPDATE users SET storage_used = storage_used - gone_size WHERE id = p_user;
    UPDATE mailboxes b SET modify_index = b.modify_index + gone, total = b.total - gone,
      unseen = b.unseen - gone_unseen, size = b.size - gone_size
    WHERE b.user_id = p_user AND b.id = p_box;
    PERFORM forget_raws(gone_raws);
  END IF;
  RETURN gone;
END $$;

-- Turns a draft into a sent message and puts its recipients into the queue, or does nothing.
-- outcome: ok, gone, not_draft, rate_limited
CREATE OR REPLACE FUNCTION submit_draft(p_user text, p_box text, p_uid bigint, p_queue text, p_sender text, p_recipients text[],
  p_raw text, p_date timestamptz, p_due timestamptz, p_limit int)
RETURNS TABLE (outcome text, mailbox text, uid bigint, size bigint, seconds int)
LANGUAGE plpgsql AS $$
DECLARE
  m messages;
  v_sent text;
  v_new bigint;
  v_since timestamptz;
  v_count int;
BEGIN
  SELECT sent_since, sent_count INTO v_since, v_count FROM users u WHERE u.id = p_user FOR NO KEY UPDATE;
  IF v_since < now() - interval '24 hours' THEN
    v_since := now();
    v_count := 0;
  END IF;
  SELECT b.id INTO v_sent FROM mailboxes b WHERE b.user_id = p_user AND b.special_use = '\Sent';
  PERFORM FROM mailboxes b WHERE b.user_id = p_user AND b.id IN (p_box, v_sent) ORDER BY b.id FOR UPDATE;
  SELECT * INTO m FROM messages t WHERE t.user_id = p_user AND t.mailbox_id = p_box AND t.uid = p_uid;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'gone', NULL::text, NULL::bigint, NULL::bigint, NULL::int;
    RETURN;
  ELSIF NOT m.draft THEN
    RETURN QUERY SELECT 'not_draft', NULL::text, NULL::bigint, NULL::bigint, NULL::int;
    RETURN;
  ELSIF p_limit > 0 AND v_count + cardinality(p_recipients) > p_limit THEN
    RETURN QUERY SELECT 'rate_limited', NULL::text, NULL::bigint, NULL::bigint,
      extract(epoch FROM v_since + interval '24 hours' - now())::int;
    RETURN;
  END IF;
  UPDATE users SET sent_since = v_since, sent_count = v_count + cardinality(p_recipients) WHERE id = p_user;
  SELECT new_uid INTO v_new FROM move_messages(p_user, p_box, ARRAY[p_uid], NULL, NULL, v_sent);
  UPDATE messages t SET draft = false, hdate = p_date, queue_id = p_queue, reference = NULL
  WHERE t.user_id = p_user AND t.mailbox_id = v_sent AND t.uid = v_new;
  INSERT INTO queue (id, seq, user_id, sender, recipient, raw_id, subject, due_at)
  SELECT p_queue, n, p_user, p_sender, r, p_raw, m.subject, p_due FROM unnest(p_recipients) WITH ORDINALITY AS x(r, n);
  UPDATE raws SET collect_after = NULL WHERE id = p_raw;
  IF m.reference IS NOT NULL THEN
    UPDATE messages t
    SET answered = t.answered OR m.reference->>'action' IN ('reply', 'replyAll'),
        forwarded = t.forwarded OR m.reference->>'action' = 'forward'
    WHERE t.user_id = p_user AND t.mailbox_id = m.reference->>'mailbox' AND t.uid = (m.reference->>'id')::bigint;
  END IF;
  RETURN QUERY SELECT 'ok', v_sent, v_new, m.size, NULL::int;
END $$;
