-- Writes of messages, one round trip each. Lock order: user -> mailboxes by id -> messages -> raws.
--
-- The user is locked FOR NO KEY UPDATE. A transaction that updates one mailbox twice, as a move with flags does, has its
-- reference to the user checked again with the mailbox locked already, by FOR KEY SHARE: against FOR UPDATE of the user,
-- held by a transaction that waits for the mailbox, that is a deadlock.

-- Adds a message. `m` is the parsed message, `p_box` the mailbox's id or its special use.
-- outcome: ok, no_mailbox, over_quota
CREATE FUNCTION store_message(p_user text, p_box text, m jsonb, p_quota bigint)
RETURNS TABLE (outcome text, mailbox text, uid bigint)
LANGUAGE plpgsql AS $$
DECLARE
  box mailboxes;
  v_thread text;
  v_keys text[] := ARRAY(SELECT jsonb_array_elements_text(m->'keys'));
  v_size bigint := (m->>'size')::bigint;
  v_seen boolean := (m->>'seen')::boolean;
  v_idate timestamptz;
BEGIN
  UPDATE users SET storage_used = storage_used + v_size
  WHERE id = p_user AND (p_quota = 0 OR storage_used + v_size <= p_quota);
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'over_quota', NULL::text, NULL::bigint;
    RETURN;
  END IF;
  UPDATE mailboxes b
  SET uid_next = b.uid_next + 1, modify_index = b.modify_index + 1, total = b.total + 1,
      unseen = b.unseen + (NOT v_seen)::int, size = b.size + v_size
  WHERE b.user_id = p_user AND (b.id = p_box OR b.special_use = p_box)
  RETURNING * INTO box;
  IF NOT FOUND THEN
    UPDATE users SET storage_used = storage_used - v_size WHERE id = p_user;
    RETURN QUERY SELECT 'no_mailbox', NULL::text, NULL::bigint;
    RETURN;
  END IF;
  -- With the mailbox locked: the order of arrival is that of the uids.
  v_idate := clock_timestamp();
  SELECT k.thread INTO v_thread FROM thread_keys k
  WHERE k.user_id = p_user AND k.key = ANY (v_keys) ORDER BY k.created_at LIMIT 1;
  v_thread := coalesce(v_thread, m->>'thread');
  INSERT INTO thread_keys (user_id, key, thread)
  SELECT p_user, k, v_thread FROM unnest(v_keys) k ON CONFLICT DO NOTHING;
  INSERT INTO messages (user_id, mailbox_id, uid, id, thread, raw_id, size, idate, hdate, message_id, subject, intro,
    seen, flagged, draft, summary, body_text, body_html, headers, meta_data, reference, expires_at)
  VALUES (p_user, box.id, box.uid_next - 1, m->>'id', v_thread, m->>'rawId', v_size, v_idate,
    coalesce((m->>'date')::timestamptz, v_idate), m->>'messageId', m->>'subject', m->>'intro',
    v_seen, (m->>'flagged')::boolean, (m->>'draft')::boolean, m->'summary', m->>'text', m->>'html', m->'headers',
    coalesce(nullif(m->'metaData', 'null'), '{}'), nullif(m->'reference', 'null'),
    CASE WHEN box.retention > 0 THEN v_idate + box.retention * interval '1 millisecond' END);
  IF jsonb_typeof(m->'calendar') = 'object' THEN
    INSERT INTO calendar_parts (user_id, mailbox_id, uid, message_id, sender, method, content, arrived_at)
    VALUES (p_user, box.id, box.uid_next - 1, m->>'messageId', coalesce(m->'summary'->'from'->>'address', ''),
      m->'calendar'->>'method', decode(m->'calendar'->>'content', 'base64'), v_idate);
  END IF;
  UPDATE raws SET collect_after = NULL WHERE id = m->>'rawId';
  RETURN QUERY SELECT 'ok', box.id, box.uid_next - 1;
END $$;

-- Marks raw messages that have lost a reference. Whether there are others is checked later, by the collector: of two
-- transactions that delete the last two references, neither sees the other's deletion.
CREATE FUNCTION forget_raws(p_raws text[]) RETURNS void
LANGUAGE sql AS $$
  UPDATE raws SET collect_after = now() + interval '10 minutes'
  WHERE id IN (SELECT r.id FROM raws r WHERE r.id = ANY (p_raws) ORDER BY r.id FOR UPDATE);
$$;

-- Removes messages from the queue whose delivery has not begun, and returns their recipients to the daily limit. The row of
-- the user is locked. @returns their queue ids
CREATE FUNCTION cancel_scheduled(p_queues text[]) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
  v_cancelled text[];
  v_raws text[];
BEGIN
  IF coalesce(cardinality(p_queues), 0) = 0 THEN
    RETURN '{}';
  END IF;
  WITH cancelled AS (
    DELETE FROM queue WHERE id = ANY (p_queues) AND attempts = 0 AND due_at > now() RETURNING id, raw_id, user_id, created_at
  ), refund AS (
    SELECT c.user_id, count(*) AS recipients FROM cancelled c JOIN users u ON u.id = c.user_id
    WHERE c.created_at >= u.sent_since GROUP BY c.user_id
  ), refunded AS (
    UPDATE users u SET sent_count = greatest(u.sent_count - refund.recipients, 0) FROM refund WHERE u.id = refund.user_id
  )
  SELECT array_agg(DISTINCT id), array_agg(DISTINCT raw_id) INTO v_cancelled, v_raws FROM cancelled;
  PERFORM forget_raws(v_raws);
  RETURN coalesce(v_cancelled, '{}');
END $$;

-- Moves messages of one mailbox to another (or the same); each gets a new uid there, in the order of the old ones.
-- outcome: ok (one row for each), no_target, none
CREATE FUNCTION move_messages(p_user text, p_from text, p_uids bigint[], p_low bigint, p_high bigint, p_to text)
RETURNS TABLE (outcome text, old_uid bigint, new_uid bigint)
LANGUAGE plpgsql AS $$
DECLARE
  box mailboxes;
  moved bigint;
  moved_unseen bigint;
  moved_size bigint;
  v_cancelled text[];
BEGIN
  -- A scheduled message changes the daily count of its user, whose row is locked before mailboxes.
  PERFORM FROM users u WHERE u.id = p_user AND EXISTS (
    SELECT FROM messages c WHERE c.user_id = p_user AND c.mailbox_id = p_from AND c.queue_id IS NOT NULL
       AND (c.uid = ANY (p_uids) OR c.uid BETWEEN p_low AND p_high)) FOR NO KEY UPDATE;
  PERFORM FROM mailboxes b WHERE b.user_id = p_user AND b.id IN (p_from, p_to) ORDER BY b.id FOR UPDATE;
  SELECT * INTO box FROM mailboxes b WHERE b.user_id = p_user AND b.id = p_to;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'no_target', NULL::bigint, NULL::bigint;
    RETURN;
  END IF;
  RETURN QUERY
  WITH chosen AS (
    SELECT c.uid, row_number() OVER (ORDER BY c.uid) - 1 AS n FROM messages c
    WHERE c.user_id = p_user AND c.mailbox_id = p_from AND (c.uid = ANY (p_uids) OR c.uid BETWEEN p_low AND p_high)
  )
  UPDATE messages t
  SET mailbox_id = p_to, uid = box.uid_next + chosen.n,
      expires_at = CASE WHEN box.retention > 0 THEN now() + box.retention * interval '1 millisecond' END
  FROM chosen
  WHERE t.user_id = p_user AND t.mailbox_id = p_from AND t.uid = chosen.uid
  RETURNING 'ok'::text, chosen.uid, t.uid;
  GET DIAGNOSTICS moved = ROW_COUNT;
  IF moved = 0 THEN
    RETURN QUERY SELECT 'none', NULL::bigint, NULL::bigint;
    RETURN;
  END IF;
  SELECT count(*) FILTER (WHERE NOT t.seen), sum(t.size) INTO moved_unseen, moved_size
  FROM messages t WHERE t.user_id = p_user AND t.mailbox_id = p_to AND t.uid >= box.uid_next;
  UPDATE mailboxes b SET modify_index = b.modify_index + moved, total = b.total - moved,
    unseen = b.unseen - moved_unseen, size = b.size - moved_size
  WHERE b.user_id = p_user AND b.id = p_from;
  UPDATE mailboxes b SET uid_next = b.uid_next + moved, modify_index = b.modify_index + moved, total = b.total + moved,
    unseen = b.unseen + moved_unseen, size = b.size + moved_size
  WHERE b.user_id = p_user AND b.id = p_to;
  -- A scheduled message that leaves its mailbox is not sent; in Drafts it is a draft again.
  IF p_from <> p_to THEN
    v_cancelled := cancel_scheduled(ARRAY(SELECT t.queue_id FROM messages t
      WHERE t.user_id = p_user AND t.mailbox_id = p_to AND t.uid >= box.uid_next AND t.queue_id IS NOT NULL));
    UPDATE messages t SET queue_id = NULL, draft = t.draft OR coalesce(box.special_use = '\Drafts', false)
    WHERE t.user_id = p_user AND t.mailbox_id = p_to AND t.uid >= box.uid_next AND t.queue_id = ANY (v_cancelled);
  END IF;
END $$;

-- Sets the flags and fields that are not null. @returns the number of messages found
CREATE FUNCTION flag_messages(p_user text, p_box text, p_uids bigint[], p_low bigint, p_high bigint,
  p_seen boolean, p_flagged boolean, p_deleted boolean, p_meta jsonb, p_expires timestamptz, p_keep boolean)
RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  matched bigint;
  less_unseen bigint;
BEGIN
  PERFORM FROM mailboxes b WHERE b.user_id = p_user AND b.id = p_box FOR UPDATE;
  WITH chosen AS (
    SELECT c.uid, c.seen FROM messages c
    WHERE c.user_id = p_user AND c.mailbox_id = p_box AND (c.uid = ANY (p_uids) OR c.uid BETWEEN p_low AND p_high)
  ), done AS (
    UPDATE messages t
    SET seen = coalesce(p_seen, t.seen), flagged = coalesce(p_flagged, t.flagged),
        deleted = coalesce(p_deleted, t.deleted), meta_data = coalesce(p_meta, t.meta_data),
        expires_at = CASE WHEN p_keep THEN NULL ELSE coalesce(p_expires, t.expires_at) END
    FROM chosen WHERE t.user_id = p_user AND t.mailbox_id = p_box AND t.uid = chosen.uid
    RETURNING chosen.seen AS was, t.seen AS is_now
  )
  SELECT count(*), coalesce(sum(is_now::int - was::int), 0) INTO matched, less_unseen FROM done;
  IF matched > 0 THEN
    UPDATE mailboxes b SET modify_index = b.modify_index + matched, unseen = b.unseen - less_unseen
    WHERE b.user_id = p_user AND b.id = p_box;
  END IF;
  RETURN matched;
END $$;

-- Deletes messages: those of the list or the range, or all of the mailbox when the list is null. @returns their number
CREATE FUNCTION delete_messages(p_user text, p_box text, p_uids bigint[], p_low bigint, p_high bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
  gone_unseen bigint;
  gone_size bigint;
  gone_raws text[];
  gone_queued text[];
BEGIN
  PERFORM FROM users u WHERE u.id = p_user FOR NO KEY UPDATE;
  PERFORM FROM mailboxes b WHERE b.user_id = p_user AND b.id = p_box FOR UPDATE;
  WITH done AS (
    DELETE FROM messages t WHERE t.user_id = p_user AND t.mailbox_id = p_box AND 
      (p_uids IS NULL OR t.uid = ANY (p_uids) OR t.uid BETWEEN p_low AND p_high)
    RETURNING t.seen, t.size, t.raw_id, t.queue_id
  )
  SELECT count(*), count(*) FILTER (WHERE NOT seen), coalesce(sum(size), 0), array_agg(raw_id),
    array_agg(queue_id) FILTER (WHERE queue_id IS NOT NULL)
  INTO gone, gone_unseen, gone_size, gone_raws, gone_queued FROM done;
  IF gone > 0 THEN
    UPDATE users SET storage_used = storage_used - gone_size WHERE id = p_user;
    UPDATE mailboxes b SET modify_index = b.modify_index + gone, total = b.total - gone,
      unseen = b.unseen - gone_unseen, size = b.size - gone_size
    WHERE b.user_id = p_user AND b.id = p_box;
    PERFORM cancel_scheduled(gone_queued);
    PERFORM forget_raws(gone_raws);
  END IF;
  RETURN gone;
END $$;

-- Turns a draft into a sent message and puts its recipients into the queue, or does nothing.
-- outcome: ok, gone, not_draft, rate_limited
CREATE FUNCTION submit_draft(p_user text, p_box text, p_uid bigint, p_queue text, p_sender text, p_recipients text[],
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
