-- Functions that processes of release 0.1.0 call (CONTRIBUTING.md, "Change the schema"). Delete the file when a later release is
-- recorded.

CREATE FUNCTION chat_attachment_json(file chat_attachments) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object(
    'id', file.id, 'name', file.name, 'size', file.size, 'content_type', file.content_type,
    'sha256', encode(file.sha256, 'hex'), 'url', '/apis/v1/chat/attachments/' || file.id,
    'thumbnail_url', CASE WHEN file.thumbnail_id IS NOT NULL THEN '/apis/v1/chat/attachments/' || file.id || '/thumbnail' END)
$$;

-- What makes two reactions the same: clients send emoji with and without selectors of the presentation (U+FE0E, U+FE0F), and names in
-- any case and form of Unicode.
CREATE FUNCTION chat_emoji_key(p_emoji text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT normalize(lower(normalize(translate(p_emoji, U&'\FE0E\FE0F', ''), NFC)), NFC)
$$;

-- The reactions of a message after a user has added or removed one: [{emoji, count, user_ids}], in the order of the first use. An emoji
-- keeps the form of its first use. Joins stored reactions that are the same, which earlier versions counted separately.
CREATE FUNCTION chat_reactions(p_reactions jsonb, p_user uuid, p_emoji text, p_on boolean) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  WITH stored AS (
    SELECT chat_emoji_key(entry->>'emoji') AS key, entry->>'emoji' AS emoji, reacting.user_id,
           row_number() OVER (ORDER BY listed.position, reacting.position) AS position
      FROM jsonb_array_elements(p_reactions) WITH ORDINALITY AS listed (entry, position)
     CROSS JOIN LATERAL jsonb_array_elements_text(entry->'user_ids') WITH ORDINALITY AS reacting (user_id, position)),
  uses AS (
    SELECT * FROM stored WHERE p_on OR (key, user_id) <> (chat_emoji_key(p_emoji), p_user::text)
    UNION ALL
    SELECT chat_emoji_key(p_emoji), p_emoji, p_user::text, (SELECT count(*) + 1 FROM stored) WHERE p_on),
  reactions AS (
    SELECT (array_agg(emoji ORDER BY position))[1] AS emoji, min(position) AS position, jsonb_agg(user_id ORDER BY position) AS users
      FROM (SELECT DISTINCT ON (key, user_id) * FROM uses ORDER BY key, user_id, position) once GROUP BY key)
  SELECT coalesce(jsonb_agg(
           jsonb_build_object('emoji', emoji, 'count', jsonb_array_length(users), 'user_ids', users) ORDER BY position), '[]')
    FROM reactions
$$;

-- Writes of messages. Each locks the row of the room first, so that numbers have no gaps and the membership that it then
-- reads is in force until its commit.

-- `message` is JSON of the message; null for a rejection. `mentioned`: users whom an edit mentions for the first time and who want to know.
CREATE TYPE chat_outcome AS (outcome text, mod_seq bigint, message text, mentioned uuid[]);

CREATE FUNCTION chat_rejected(p_outcome text) RETURNS chat_outcome LANGUAGE sql IMMUTABLE AS $$
  SELECT (p_outcome, NULL, NULL, NULL)::chat_outcome
$$;

CREATE FUNCTION chat_result(p_outcome text, message chat_messages) RETURNS chat_outcome LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (p_outcome, message.mod_seq, (
    SELECT view.message FROM chat_message_views view
     WHERE view.tenant_id = message.tenant_id AND view.room_id = message.room_id AND view.seq = message.seq), NULL)::chat_outcome;
END $$;

-- The role of a member in a room, else null. The room is locked until the end of the transaction.
CREATE FUNCTION chat_lock(p_tenant uuid, p_user uuid, p_room uuid) RETURNS chat_role LANGUAGE plpgsql AS $$
DECLARE v_role chat_role;
BEGIN
  PERFORM FROM chat_rooms WHERE tenant_id = p_tenant AND id = p_room AND deleted_at IS NULL FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT role INTO v_role FROM chat_members WHERE tenant_id = p_tenant AND room_id = p_room AND user_id = p_user;
  RETURN v_role;
END $$;

-- Reports a change of a message to programs of others.
CREATE FUNCTION chat_event(message chat_messages, p_change text, p_actor uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_if_wanted(message.tenant_id, 'chat.message.' || p_change, jsonb_build_object(
    'room_id', message.room_id, 'message_id', message.id, 'seq', message.seq, 'actor_id', p_actor));
END $$;

-- Adds a message to a locked room and returns its row. The sender has read it.
CREATE FUNCTION chat_append(p_tenant uuid, p_user uuid, p_room uuid, message chat_messages) RETURNS chat_messages LANGUAGE plpgsql AS $$
DECLARE v_now timestamptz := clock_timestamp();
BEGIN
  UPDATE chat_rooms SET last_seq = last_seq + 1, mod_seq = chat_rooms.mod_seq + 1, active_at = v_now
   WHERE tenant_id = p_tenant AND id = p_room
  RETURNING last_seq, chat_rooms.mod_seq INTO message.seq, message.mod_seq;
  message.tenant_id := p_tenant;
  message.room_id := p_room;
  message.sender_id := p_user;
  message.created_at := v_now;
  INSERT INTO chat_messages SELECT message.*;
  UPDATE chat_members SET last_read_seq = message.seq
   WHERE tenant_id = p_tenant AND room_id = p_room AND user_id = p_user AND last_read_seq = message.seq - 1;
  RETURN message;
END $$;

-- Reports a change of the room as a message of the kind `system` or `call`. The room is locked. Null in a deleted room.
CREATE FUNCTION chat_report(p_tenant uuid, p_user uuid, p_room uuid, p_id uuid, p_event jsonb, p_kind text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE message chat_messages;
BEGIN
  PERFORM FROM chat_rooms WHERE tenant_id = p_tenant AND id = p_room AND deleted_at IS NULL;
  IF NOT FOUND THEN RETURN NULL; END IF;
  message := jsonb_populate_record(NULL::chat_messages, jsonb_build_object(
    'id', p_id, 'kind', p_kind, 'body', '', 'format', 'plain', 'event', p_event, 'mentions', '[]'::jsonb,
    'attachments', '[]'::jsonb, 'reactions', '[]'::jsonb, 'tsv', ''));
  message := chat_append(p_tenant, p_user, p_room, message);
  RETURN message.mod_seq;
END $$;

-- The users among p_users (a JSON array of ids) who are members of the room, by id.
CREATE FUNCTION chat_mentions(p_tenant uuid, p_room uuid, p_users jsonb) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT user_id FROM chat_members WHERE tenant_id = p_tenant AND room_id = p_room
       AND user_id = ANY (ARRAY(SELECT jsonb_array_elements_text(p_users))::uuid[]) ORDER BY user_id);
END $$;

-- Adds a message of a member. `p_input`: id, client_msg_id, fingerprint (hexadecimal), body, format, reply_to, mentions,
-- attachments (ids), via (an incoming webhook, or null), tsv (text form). Mentions of users who are not members are dropped.
-- Outcomes: ok, duplicate, key_reused, not_found, archived, full, inactive, unknown_reply, unknown_attachment.
CREATE FUNCTION chat_send(p_tenant uuid, p_user uuid, p_room uuid, p_input jsonb) RETURNS chat_outcome LANGUAGE plpgsql AS $$
BEGIN
  IF chat_lock(p_tenant, p_user, p_room) IS NULL THEN RETURN chat_rejected('not_found'); END IF;
  RETURN chat_post(p_tenant, p_user, NULL, p_room, p_input);
END $$;

-- Adds a message of a guest, whose access to the room the caller has checked. Returns the message as guests see it.
CREATE FUNCTION chat_send_guest(p_tenant uuid, p_guest uuid, p_name text, p_room uuid, p_input jsonb) RETURNS chat_outcome LANGUAGE plpgsql AS $$
DECLARE result chat_outcome;
BEGIN
  PERFORM FROM chat_rooms WHERE tenant_id = p_tenant AND id = p_room AND deleted_at IS NULL FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN chat_rejected('not_found'); END IF;
  result := chat_post(p_tenant, p_guest, p_name, p_room, p_input);
  IF result.message IS NOT NULL THEN
    SELECT view.message INTO result.message FROM chat_guest_message_views view
     WHERE view.tenant_id = p_tenant AND view.room_id = p_room AND view.seq = (result.message::json->>'seq')::bigint;
  END IF;
  RETURN result;
END $$;

-- Adds a message to a locked room. `p_guest_name`: null for a member.
CREATE FUNCTION chat_post(p_tenant uuid, p_user uuid, p_guest_name text, p_room uuid, p_input jsonb) RETURNS chat_outcome LANGUAGE plpgsql AS $$
DECLARE
  message chat_messages;
  v_room chat_rooms;
  v_files uuid[] := ARRAY(SELECT jsonb_array_elements_text(p_input->'attachments'))::uuid[];
BEGIN
  SELECT * INTO message FROM chat_messages sent
   WHERE sent.tenant_id = p_tenant AND sent.room_id = p_room AND sent.sender_id = p_user
     AND sent.client_msg_id = (p_input->>'client_msg_id')::uuid;
  IF FOUND THEN
    IF message.fingerprint <> decode(p_input->>'fingerprint', 'hex') THEN RETURN chat_rejected('key_reused'); END IF;
    RETURN chat_result('duplicate', message);
  END IF;
  SELECT * INTO v_room FROM chat_rooms WHERE tenant_id = p_tenant AND id = p_room;
  IF v_room.archived_at IS NOT NULL THEN RETURN chat_rejected('archived'); END IF;
  -- Messages keep their rows as long as the room, so that the last number is their count.
  IF v_room.last_seq >= row_quota('item.messages_of_chat_room') THEN RETURN chat_rejected('full'); END IF;
  IF v_room.type = 'direct' AND NOT EXISTS (
    SELECT FROM chat_members other
      JOIN member_profiles profile ON profile.tenant_id = p_tenant AND profile.user_id = other.user_id AND profile.status = 'active'
     WHERE other.tenant_id = p_tenant AND other.room_id = p_room AND other.user_id <> p_user) THEN
    RETURN chat_rejected('inactive');
  END IF;
  message.reply_to := (p_input->>'reply_to')::uuid;
  IF message.reply_to IS NOT NULL THEN
    SELECT seq INTO message.reply_to_seq FROM chat_messages
     WHERE tenant_id = p_tenant AND room_id = p_room AND id = message.reply_to;
    IF NOT FOUND THEN RETURN chat_rejected('unknown_reply'); END IF;
  END IF;
  message.attachments := chat_unsent_files(p_tenant, p_user, v_files);
  IF jsonb_array_length(message.attachments) < cardinality(v_files) THEN RETURN chat_rejected('unknown_attachment'); END IF;
  message.id := (p_input->>'id')::uuid;
  message.guest_name := p_guest_name;
  message.via := nullif(p_input->'via', 'null');
  message.client_msg_id := (p_input->>'client_msg_id')::uuid;
  message.fingerprint := decode(p_input->>'fingerprint', 'hex');
  message.kind := 'text';
  message.body := p_input->>'body';
  message.format := p_input->>'format';
  message.mentions := chat_mentions(p_tenant, p_room, p_input->'mentions');
  message.reactions := '[]';
  message.tsv := (p_input->>'tsv')::tsvector;
  message := chat_append(p_tenant, p_user, p_room, message);
  IF cardinality(v_files) > 0 THEN
    UPDATE chat_attachments SET room_id = p_room, message_seq = message.seq
     WHERE tenant_id = p_tenant AND id = ANY (v_files);
  END IF;
  -- A guest is no user.
  PERFORM chat_event(message, 'sent', CASE WHEN p_guest_name IS NULL THEN p_user END);
  RETURN chat_result('ok', message);
END $$;

-- Locks the given files that the user has uploaded and not sent, and returns their JSON in the given order.
CREATE FUNCTION chat_unsent_files(p_tenant uuid, p_user uuid, p_files uuid[]) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  IF cardinality(p_files) = 0 THEN RETURN '[]'; END IF;
  RETURN coalesce((
    SELECT jsonb_agg(chat_attachment_json(file) ORDER BY array_position(p_files, file.id)) FROM (
      SELECT * FROM chat_attachments WHERE tenant_id = p_tenant AND id = ANY (p_files) AND owner_id = p_user AND room_id IS NULL
       ORDER BY id FOR UPDATE) file), '[]');
END $$;

-- Gives a changed message of a locked room its number. `updated_at` shows the change to clients that poll the list of rooms.
-- PL/pgSQL: PostgreSQL would plan an SQL function again for each call.
CREATE FUNCTION chat_changed(p_tenant uuid, p_room uuid) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE v_mod_seq bigint;
BEGIN
  UPDATE chat_rooms SET mod_seq = mod_seq + 1, updated_at = clock_timestamp()
   WHERE tenant_id = p_tenant AND id = p_room RETURNING mod_seq INTO v_mod_seq;
  RETURN v_mod_seq;
END $$;

-- Replaces the text of a message. `p_base`: the mod_seq that the client has read, or null. `p_input`: body, format, tsv, mentions;
-- mentions and format are null to keep those of the message. Members who want no notification of the room are not in `mentioned`.
-- Outcomes: ok, unchanged, not_found, forbidden, deleted, archived, conflict.
CREATE FUNCTION chat_edit(p_tenant uuid, p_user uuid, p_room uuid, p_message uuid, p_base bigint, p_input jsonb) RETURNS chat_outcome LANGUAGE plpgsql AS $$
DECLARE
  message chat_messages;
  result chat_outcome;
  v_before uuid[];
  v_mentions uuid[];
BEGIN
  IF chat_lock(p_tenant, p_user, p_room) IS NULL THEN RETURN chat_rejected('not_found'); END IF;
  SELECT * INTO message FROM chat_messages WHERE tenant_id = p_tenant AND room_id = p_room AND id = p_message;
  IF NOT FOUND THEN RETURN chat_rejected('not_found'); END IF;
  IF message.sender_id <> p_user OR message.kind <> 'text' THEN RETURN chat_rejected('forbidden'); END IF;
  IF message.deleted_at IS NOT NULL THEN RETURN chat_rejected('deleted'); END IF;
  IF (SELECT archived_at IS NOT NULL FROM chat_rooms WHERE tenant_id = p_tenant AND id = p_room) THEN
    RETURN chat_rejected('archived');
  END IF;
  IF p_base <> message.mod_seq THEN RETURN chat_result('conflict', message); END IF;
  v_before := message.mentions;
  -- A mentioned user who has left the room stays mentioned.
  v_mentions := CASE WHEN jsonb_typeof(p_input->'mentions') = 'array' THEN ARRAY(
    SELECT DISTINCT mentioned FROM unnest(chat_mentions(p_tenant, p_room, p_input->'mentions') || ARRAY(
      SELECT kept FROM unnest(v_before) AS kept WHERE p_input->'mentions' ? kept::text)) AS mentioned ORDER BY mentioned)
    ELSE v_before END;
  IF message.body = p_input->>'body' AND message.format = coalesce(p_input->>'format', message.format)
     AND v_mentions = v_before THEN
    RETURN chat_result('unchanged', message);
  END IF;
  UPDATE chat_messages SET body = p_input->>'body', format = coalesce(p_input->>'format', chat_messages.format), mentions = v_mentions,
         tsv = (p_input->>'tsv')::tsvector, edited_at = clock_timestamp(), mod_seq = chat_changed(p_tenant, p_room)
   WHERE tenant_id = p_tenant AND room_id = p_room AND seq = message.seq RETURNING * INTO message;
  PERFORM chat_event(message, 'edited', p_user);
  result := chat_result('ok', message);
  result.mentioned := ARRAY(
    SELECT user_id FROM chat_members
     WHERE tenant_id = p_tenant AND room_id = p_room AND user_id = ANY (v_mentions) AND user_id <> ALL (v_before)
       AND user_id <> p_user AND notify <> 'none' AND (muted_until IS NULL OR muted_until <= now()) ORDER BY user_id);
  RETURN result;
END $$;

-- Makes a message a tombstone: it keeps its place and loses its content, files included.
-- `p_any`: the user may delete messages of others. Outcomes: ok, unchanged, not_found, forbidden.
CREATE FUNCTION chat_delete(p_tenant uuid, p_user uuid, p_room uuid, p_message uuid, p_any boolean) RETURNS chat_outcome LANGUAGE plpgsql AS $$
DECLARE
  message chat_messages;
  v_role chat_role := chat_lock(p_tenant, p_user, p_room);
BEGIN
  IF v_role IS NULL THEN RETURN chat_rejected('not_found'); END IF;
  SELECT * INTO message FROM chat_messages WHERE tenant_id = p_tenant AND room_id = p_room AND id = p_message;
  IF NOT FOUND THEN RETURN chat_rejected('not_found'); END IF;
  IF message.kind <> 'text' OR message.sender_id <> p_user AND NOT p_any AND v_role < 'moderator' THEN
    RETURN chat_rejected('forbidden');
  END IF;
  IF message.deleted_at IS NOT NULL THEN RETURN chat_result('unchanged', message); END IF;
  UPDATE chat_messages SET body = '', mentions = '{}', attachments = '[]', reactions = '[]', tsv = '',
         deleted_at = clock_timestamp(), deleted_by = p_user, mod_seq = chat_changed(p_tenant, p_room)
   WHERE tenant_id = p_tenant AND room_id = p_room AND seq = message.seq RETURNING * INTO message;
  DELETE FROM chat_attachments WHERE tenant_id = p_tenant AND room_id = p_room AND message_seq = message.seq;
  PERFORM chat_event(message, 'deleted', p_user);
  RETURN chat_result('ok', message);
END $$;

-- Adds or removes the reaction of a user. Outcomes: ok, unchanged, not_found, forbidden, deleted, archived, too_many.
-- Messages of the kind `system` never change, because the delivery to sockets reads changes of members from them, in order.
CREATE FUNCTION chat_react(p_tenant uuid, p_user uuid, p_room uuid, p_message uuid, p_emoji text, p_on boolean, p_max int) RETURNS chat_outcome LANGUAGE plpgsql AS $$
DECLARE
  message chat_messages;
  v_reactions jsonb;
BEGIN
  IF chat_lock(p_tenant, p_user, p_room) IS NULL THEN RETURN chat_rejected('not_found'); END IF;
  SELECT * INTO message FROM chat_messages WHERE tenant_id = p_tenant AND room_id = p_room AND id = p_message;
  IF NOT FOUND THEN RETURN chat_rejected('not_found'); END IF;
  IF message.kind = 'system' THEN RETURN chat_rejected('forbidden'); END IF;
  IF message.deleted_at IS NOT NULL THEN RETURN chat_rejected('deleted'); END IF;
  IF (SELECT archived_at IS NOT NULL FROM chat_rooms WHERE tenant_id = p_tenant AND id = p_room) THEN
    RETURN chat_rejected('archived');
  END IF;
  v_reactions := chat_reactions(message.reactions, p_user, p_emoji, p_on);
  IF v_reactions = message.reactions THEN RETURN chat_result('unchanged', message); END IF;
  IF jsonb_array_length(v_reactions) > p_max THEN RETURN chat_rejected('too_many'); END IF;
  UPDATE chat_messages SET reactions = v_reactions, mod_seq = chat_changed(p_tenant, p_room)
   WHERE tenant_id = p_tenant AND room_id = p_room AND seq = message.seq RETURNING * INTO message;
  RETURN chat_result('ok', message);
END $$;

-- Deletes up to p_limit messages of the room with the earliest deletion, or the room itself if it has none.
-- False: there is no deleted room, or another process works on it.
CREATE FUNCTION chat_purge(p_limit int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE room chat_rooms;
BEGIN
  SELECT * INTO room FROM chat_rooms WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM chat_messages message
   WHERE message.tenant_id = room.tenant_id AND message.room_id = room.id AND message.seq IN (
     SELECT seq FROM chat_messages WHERE tenant_id = room.tenant_id AND room_id = room.id ORDER BY seq LIMIT p_limit);
  IF NOT FOUND THEN
    DELETE FROM chat_members WHERE tenant_id = room.tenant_id AND room_id = room.id;
    DELETE FROM chat_rooms WHERE tenant_id = room.tenant_id AND id = room.id;
  END IF;
  RETURN true;
END $$;
