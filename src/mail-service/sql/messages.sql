-- Writes of messages, one round trip each. Lock order: user -> mailboxes by id -> messages -> raws.
--
-- The user is locked FOR NO KEY UPDATE. When a transaction updates one mailbox twice, as a move with flags does, PostgreSQL
-- checks the foreign key to the user again: it locks the user FOR KEY SHARE while the mailbox is locked. If another
-- transaction had locked the user FOR UPDATE and waited for the mailbox, that would be a deadlock.

-- The time at which a message that is stored now expires. p_retention: of its mailbox, milliseconds. At most 1,000 years from
-- now, because JavaScript has no dates after the year 275,760.
CREATE FUNCTION expiry_of(p_retention bigint) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_retention > 0 THEN now() + least(p_retention, 31557600000000) * interval '1 millisecond' END
$$;

-- Adds a message. `p_message` is the parsed message, `p_box` the mailbox's id or its special use.
-- outcome: ok, no_user, no_mailbox, over_quota
CREATE FUNCTION store_message(p_user text, p_box text, p_message jsonb, p_quota bigint)
RETURNS TABLE (outcome text, mailbox text, uid bigint)
LANGUAGE plpgsql AS $$
DECLARE
  box mailboxes;
  v_thread text;
  v_keys text[] := ARRAY(SELECT jsonb_array_elements_text(p_message->'keys'));
  v_size bigint := (p_message->>'size')::bigint;
  v_seen boolean := (p_message->>'seen')::boolean;
  v_idate timestamptz;
BEGIN
  UPDATE users SET storage_used = storage_used + v_size
  WHERE id = p_user AND (p_quota = 0 OR storage_used + v_size <= p_quota);
  IF NOT FOUND THEN
    RETURN QUERY SELECT CASE WHEN EXISTS (SELECT FROM users WHERE id = p_user) THEN 'over_quota' ELSE 'no_user' END,
                        NULL::text, NULL::bigint;
    RETURN;
  END IF;
  UPDATE mailboxes AS mailbox
  SET uid_next = mailbox.uid_next + 1, modify_index = mailbox.modify_index + 1, total = mailbox.total + 1,
      unseen = mailbox.unseen + (NOT v_seen)::int, size = mailbox.size + v_size
  WHERE mailbox.user_id = p_user AND (mailbox.id = p_box OR mailbox.special_use = p_box)
  RETURNING * INTO box;
  IF NOT FOUND THEN
    UPDATE users SET storage_used = storage_used - v_size WHERE id = p_user;
    RETURN QUERY SELECT 'no_mailbox', NULL::text, NULL::bigint;
    RETURN;
  END IF;
  -- Read after the mailbox is locked, so that times of arrival and uids have the same order.
  v_idate := clock_timestamp();
  SELECT thread_key.thread INTO v_thread FROM thread_keys AS thread_key
  WHERE thread_key.user_id = p_user AND thread_key.key = ANY (v_keys) ORDER BY thread_key.created_at LIMIT 1;
  v_thread := coalesce(v_thread, p_message->>'thread');
  INSERT INTO thread_keys (user_id, key, thread)
  SELECT p_user, thread_key, v_thread FROM unnest(v_keys) AS thread_key ON CONFLICT DO NOTHING;
  INSERT INTO messages (user_id, mailbox_id, uid, id, thread, raw_id, size, idate, hdate, message_id, subject, intro,
    seen, flagged, draft, summary, body_text, body_html, headers, meta_data, reference, expires_at)
  VALUES (p_user, box.id, box.uid_next - 1, p_message->>'id', v_thread, p_message->>'rawId', v_size, v_idate,
    coalesce((p_message->>'date')::timestamptz, v_idate), p_message->>'messageId', p_message->>'subject', p_message->>'intro',
    v_seen, (p_message->>'flagged')::boolean, (p_message->>'draft')::boolean, p_message->'summary',
    p_message->>'text', p_message->>'html', p_message->'headers',
    coalesce(nullif(p_message->'metaData', 'null'), '{}'), nullif(p_message->'reference', 'null'),
    expiry_of(box.retention));
  IF jsonb_typeof(p_message->'calendar') = 'object' THEN
    INSERT INTO calendar_parts (user_id, mailbox_id, uid, message_id, sender, method, content, arrived_at)
    VALUES (p_user, box.id, box.uid_next - 1, p_message->>'messageId', coalesce(p_message->'calendar'->>'sender', p_message->'summary'->'from'->>'address', ''),
      p_message->'calendar'->>'method', decode(p_message->'calendar'->>'content', 'base64'), v_idate);
  END IF;
  UPDATE raws SET collect_after = NULL WHERE id = p_message->>'rawId';
  RETURN QUERY SELECT 'ok', box.id, box.uid_next - 1;
END $$;

-- Marks raw messages that have lost a reference. The collector checks later whether other references exist: two concurrent
-- transactions that delete the last two references do not see each other's deletion.
CREATE FUNCTION forget_raws(p_raws text[]) RETURNS void
LANGUAGE sql AS $$
  UPDATE raws SET collect_after = now() + interval '10 minutes'
  WHERE id IN (SELECT raw.id FROM raws AS raw WHERE raw.id = ANY (p_raws) ORDER BY raw.id FOR UPDATE);
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
    SELECT cancelled.user_id, count(*) AS recipients FROM cancelled JOIN users AS account ON account.id = cancelled.user_id
    WHERE cancelled.created_at >= account.sent_since GROUP BY cancelled.user_id
  ), refunded AS (
    UPDATE users AS account SET sent_count = greatest(account.sent_count - refund.recipients, 0)
    FROM refund WHERE account.id = refund.user_id
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
  PERFORM FROM users AS account WHERE account.id = p_user AND EXISTS (
    SELECT FROM messages AS message WHERE message.user_id = p_user AND message.mailbox_id = p_from AND message.queue_id IS NOT NULL
       AND (message.uid = ANY (p_uids) OR message.uid BETWEEN p_low AND p_high)) FOR NO KEY UPDATE;
  PERFORM FROM mailboxes AS mailbox WHERE mailbox.user_id = p_user AND mailbox.id IN (p_from, p_to) ORDER BY mailbox.id FOR UPDATE;
  SELECT * INTO box FROM mailboxes AS mailbox WHERE mailbox.user_id = p_user AND mailbox.id = p_to;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'no_target', NULL::bigint, NULL::bigint;
    RETURN;
  END IF;
  RETURN QUERY
  WITH chosen AS (
    SELECT message.uid, row_number() OVER (ORDER BY message.uid) - 1 AS place FROM messages AS message
    WHERE message.user_id = p_user AND message.mailbox_id = p_from AND (message.uid = ANY (p_uids) OR message.uid BETWEEN p_low AND p_high)
  )
  UPDATE messages AS message
  SET mailbox_id = p_to, uid = box.uid_next + chosen.place,
      expires_at = expiry_of(box.retention)
  FROM chosen
  WHERE message.user_id = p_user AND message.mailbox_id = p_from AND message.uid = chosen.uid
  RETURNING 'ok'::text, chosen.uid, message.uid;
  GET DIAGNOSTICS moved = ROW_COUNT;
  IF moved = 0 THEN
    RETURN QUERY SELECT 'none', NULL::bigint, NULL::bigint;
    RETURN;
  END IF;
  SELECT count(*) FILTER (WHERE NOT message.seen), sum(message.size) INTO moved_unseen, moved_size
  FROM messages AS message WHERE message.user_id = p_user AND message.mailbox_id = p_to AND message.uid >= box.uid_next;
  UPDATE mailboxes AS mailbox SET modify_index = mailbox.modify_index + moved,
    total = mailbox.total - moved,
    unseen = mailbox.unseen - moved_unseen, size = mailbox.size - moved_size
  WHERE mailbox.user_id = p_user AND mailbox.id = p_from;
  UPDATE mailboxes AS mailbox SET uid_next = mailbox.uid_next + moved, modify_index = mailbox.modify_index + moved,
    total = mailbox.total + moved,
    unseen = mailbox.unseen + moved_unseen, size = mailbox.size + moved_size
  WHERE mailbox.user_id = p_user AND mailbox.id = p_to;
  -- A scheduled message that is moved to another mailbox is not sent; in Drafts it becomes a draft again.
  IF p_from <> p_to THEN
    v_cancelled := cancel_scheduled(ARRAY(SELECT message.queue_id FROM messages AS message
      WHERE message.user_id = p_user AND message.mailbox_id = p_to AND message.uid >= box.uid_next AND message.queue_id IS NOT NULL));
    UPDATE messages AS message SET queue_id = NULL, draft = message.draft OR coalesce(box.special_use = '\Drafts', false)
    WHERE message.user_id = p_user AND message.mailbox_id = p_to AND message.uid >= box.uid_next AND message.queue_id = ANY (v_cancelled);
  END IF;
END $$;

-- Changes flags and fields of messages. `p_change`: new values; fields that it does not contain stay. `expires` null: never.
-- @returns the number of messages found
CREATE FUNCTION flag_messages(p_user text, p_box text, p_uids bigint[], p_low bigint, p_high bigint, p_change jsonb)
RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_seen boolean := (p_change->>'seen')::boolean;
  v_flagged boolean := (p_change->>'flagged')::boolean;
  v_deleted boolean := (p_change->>'deleted')::boolean;
  v_meta jsonb := nullif(p_change->'metaData', 'null');
  v_expires timestamptz := (p_change->>'expires')::timestamptz;
  v_sets_expiry boolean := p_change ? 'expires';
  matched bigint;
  less_unseen bigint;
BEGIN
  PERFORM FROM mailboxes AS mailbox WHERE mailbox.user_id = p_user AND mailbox.id = p_box FOR UPDATE;
  WITH chosen AS (
    SELECT message.uid, message.seen FROM messages AS message
    WHERE message.user_id = p_user AND message.mailbox_id = p_box AND (message.uid = ANY (p_uids) OR message.uid BETWEEN p_low AND p_high)
  ), done AS (
    UPDATE messages AS message
    SET seen = coalesce(v_seen, message.seen), flagged = coalesce(v_flagged, message.flagged),
        deleted = coalesce(v_deleted, message.deleted), meta_data = coalesce(v_meta, message.meta_data),
        expires_at = CASE WHEN v_sets_expiry THEN v_expires ELSE message.expires_at END
    FROM chosen WHERE message.user_id = p_user AND message.mailbox_id = p_box AND message.uid = chosen.uid
    RETURNING chosen.seen AS was, message.seen AS is_now
  )
  SELECT count(*), coalesce(sum(is_now::int - was::int), 0) INTO matched, less_unseen FROM done;
  IF matched > 0 THEN
    UPDATE mailboxes AS mailbox SET modify_index = mailbox.modify_index + matched, unseen = mailbox.unseen - less_unseen
    WHERE mailbox.user_id = p_user AND mailbox.id = p_box;
  END IF;
  RETURN matched;
END $$;

-- Deletes messages: those of the list or the range, or all of the mailbox when the list is null. @returns their number
CREATE FUNCTION delete_messages(p_user text, p_box text, p_uids bigint[], p_low bigint, p_high bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  removed bigint;
  removed_unseen bigint;
  removed_size bigint;
  removed_raws text[];
  removed_queued text[];
BEGIN
  PERFORM FROM users AS account WHERE account.id = p_user FOR NO KEY UPDATE;
  PERFORM FROM mailboxes AS mailbox WHERE mailbox.user_id = p_user AND mailbox.id = p_box FOR UPDATE;
  WITH done AS (
    DELETE FROM messages AS message WHERE message.user_id = p_user AND message.mailbox_id = p_box
      AND (p_uids IS NULL OR message.uid = ANY (p_uids) OR message.uid BETWEEN p_low AND p_high)
    RETURNING message.seen, message.size, message.raw_id, message.queue_id
  )
  SELECT count(*), count(*) FILTER (WHERE NOT seen), coalesce(sum(size), 0), array_agg(raw_id),
    array_agg(queue_id) FILTER (WHERE queue_id IS NOT NULL)
  INTO removed, removed_unseen, removed_size, removed_raws, removed_queued FROM done;
  IF removed > 0 THEN
    UPDATE users SET storage_used = storage_used - removed_size WHERE id = p_user;
    UPDATE mailboxes AS mailbox SET modify_index = mailbox.modify_index + removed, total = mailbox.total - removed,
      unseen = mailbox.unseen - removed_unseen, size = mailbox.size - removed_size
    WHERE mailbox.user_id = p_user AND mailbox.id = p_box;
    PERFORM cancel_scheduled(removed_queued);
    PERFORM forget_raws(removed_raws);
  END IF;
  RETURN removed;
END $$;

-- Turns a draft into a sent message and puts its recipients into the queue, or does nothing.
-- `p_submission`: `queueId`, `sender`, `recipients`, `rawId`, `date` of the message, which is also the earliest time of delivery,
-- `limit` of recipients in 24 hours (0: unlimited). outcome: ok, gone, not_draft, rate_limited
CREATE FUNCTION submit_draft(p_user text, p_box text, p_uid bigint, p_submission jsonb)
RETURNS TABLE (outcome text, mailbox text, uid bigint, size bigint, seconds int)
LANGUAGE plpgsql AS $$
DECLARE
  source messages;
  v_recipients text[] := ARRAY(SELECT jsonb_array_elements_text(p_submission->'recipients'));
  v_limit int := (p_submission->>'limit')::int;
  v_date timestamptz := (p_submission->>'date')::timestamptz;
  v_queue text := p_submission->>'queueId';
  v_raw text := p_submission->>'rawId';
  v_sent text;
  v_new bigint;
  v_since timestamptz;
  v_count int;
BEGIN
  SELECT sent_since, sent_count INTO v_since, v_count FROM users AS account WHERE account.id = p_user FOR NO KEY UPDATE;
  IF v_since < now() - interval '24 hours' THEN
    v_since := now();
    v_count := 0;
  END IF;
  SELECT mailbox.id INTO v_sent FROM mailboxes AS mailbox WHERE mailbox.user_id = p_user AND mailbox.special_use = '\Sent';
  PERFORM FROM mailboxes AS mailbox WHERE mailbox.user_id = p_user AND mailbox.id IN (p_box, v_sent)
  ORDER BY mailbox.id FOR UPDATE;
  SELECT * INTO source FROM messages AS message WHERE message.user_id = p_user AND message.mailbox_id = p_box AND message.uid = p_uid;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'gone', NULL::text, NULL::bigint, NULL::bigint, NULL::int;
    RETURN;
  ELSIF NOT source.draft THEN
    RETURN QUERY SELECT 'not_draft', NULL::text, NULL::bigint, NULL::bigint, NULL::int;
    RETURN;
  ELSIF v_limit > 0 AND v_count + cardinality(v_recipients) > v_limit THEN
    RETURN QUERY SELECT 'rate_limited', NULL::text, NULL::bigint, NULL::bigint,
      extract(epoch FROM v_since + interval '24 hours' - now())::int;
    RETURN;
  END IF;
  UPDATE users SET sent_since = v_since, sent_count = v_count + cardinality(v_recipients) WHERE id = p_user;
  SELECT new_uid INTO v_new FROM move_messages(p_user, p_box, ARRAY[p_uid], NULL, NULL, v_sent);
  -- The retention begins at the time of delivery: a scheduled message that expired before would not be sent.
  UPDATE messages AS message SET draft = false, hdate = v_date, queue_id = v_queue, reference = NULL,
    expires_at = message.expires_at + (v_date - now())
  WHERE message.user_id = p_user AND message.mailbox_id = v_sent AND message.uid = v_new;
  INSERT INTO queue (id, seq, user_id, sender, recipient, raw_id, subject, due_at)
  SELECT v_queue, entry.position, p_user, p_submission->>'sender', entry.address, v_raw, source.subject, v_date
  FROM unnest(v_recipients) WITH ORDINALITY AS entry (address, position);
  UPDATE raws SET collect_after = NULL WHERE id = v_raw;
  IF source.reference IS NOT NULL THEN
    UPDATE messages AS message
    SET answered = message.answered OR source.reference->>'action' IN ('reply', 'replyAll'),
        forwarded = message.forwarded OR source.reference->>'action' = 'forward'
    WHERE message.user_id = p_user AND message.mailbox_id = source.reference->>'mailbox'
      AND message.uid = (source.reference->>'id')::bigint;
  END IF;
  RETURN QUERY SELECT 'ok', v_sent, v_new, source.size, NULL::int;
END $$;
