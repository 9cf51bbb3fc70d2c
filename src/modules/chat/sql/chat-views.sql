-- JSON of a message. Statements that write a message show it by this function, because a view does not have the row yet.
CREATE FUNCTION chat_message_json(message chat_messages, p_sender_name text) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_build_object(
    'id', message.id, 'room_id', message.room_id, 'seq', message.seq, 'mod_seq', message.mod_seq,
    'kind', message.kind,
    'sender', json_build_object(
      'kind', CASE WHEN message.guest_name IS NULL THEN 'user' ELSE 'guest' END, 'id', message.sender_id,
      'display_name', coalesce(message.guest_name, p_sender_name)),
    'via', message.via, 'body', message.body, 'format', message.format, 'event', message.event,
    'reply_to', message.reply_to, 'reply_to_seq', message.reply_to_seq,
    'mentions', message.mentions, 'attachments', message.attachments, 'reactions', message.reactions,
    'client_msg_id', message.client_msg_id,
    'created_at', rfc3339(message.created_at), 'edited_at', rfc3339(message.edited_at),
    'deleted_at', rfc3339(message.deleted_at), 'deleted_by', message.deleted_by)
$$;

-- Every response to members selects from this view.
CREATE VIEW chat_message_views AS
SELECT message.tenant_id, message.room_id, message.seq, message.mod_seq, message.id, message.tsv,
       chat_message_json(message, sender.display_name)::text AS message
  FROM chat_messages message
  LEFT JOIN member_profiles sender ON sender.tenant_id = message.tenant_id AND sender.user_id = message.sender_id;

-- A text message as guests see it: without ids of members, reactions, mentions and addresses that need a bearer token.
CREATE VIEW chat_guest_message_views AS
SELECT message.tenant_id, message.room_id, message.seq, message.sender_id,
       json_build_object(
         'id', message.id, 'seq', message.seq,
         'sender', json_build_object(
           'kind', CASE WHEN message.guest_name IS NULL THEN 'user' ELSE 'guest' END,
           'display_name', coalesce(message.guest_name, sender.display_name)),
         'via', message.via->>'name', 'body', message.body, 'format', message.format, 'reply_to_seq', message.reply_to_seq,
         'attachments', coalesce((
           SELECT jsonb_agg(jsonb_build_object('id', file->'id', 'name', file->'name', 'size', file->'size',
                                               'content_type', file->'content_type') ORDER BY position)
             FROM jsonb_array_elements(message.attachments) WITH ORDINALITY AS files (file, position)), '[]'),
         'created_at', rfc3339(message.created_at), 'edited_at', rfc3339(message.edited_at),
         'deleted_at', rfc3339(message.deleted_at)) AS message
  FROM chat_messages message
  LEFT JOIN member_profiles sender ON sender.tenant_id = message.tenant_id AND sender.user_id = message.sender_id
 WHERE message.kind = 'text';

-- Rooms and the roles of their members as other modules read them. Only `chat` writes.
CREATE VIEW chat_room_refs AS
SELECT tenant_id, id, type, name, last_seq, archived_at FROM chat_rooms WHERE deleted_at IS NULL;
CREATE VIEW chat_room_roles AS
SELECT member.tenant_id, member.room_id, member.user_id, member.role, member.joined_at FROM chat_members member
  JOIN chat_rooms room ON room.tenant_id = member.tenant_id AND room.id = member.room_id AND room.deleted_at IS NULL;

-- Messages that others wrote after a position of a room. Counts among its newest 1,000 messages.
-- PL/pgSQL: PostgreSQL would plan an SQL function again for each call.
CREATE FUNCTION chat_unread(p_tenant uuid, p_user uuid, p_room uuid, p_after bigint) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT count(*) FROM (
      SELECT kind, deleted_at, sender_id FROM chat_messages
       WHERE tenant_id = p_tenant AND room_id = p_room AND seq > p_after ORDER BY seq DESC LIMIT 1000) newest
     WHERE newest.kind = 'text' AND newest.deleted_at IS NULL AND newest.sender_id <> p_user);
END $$;
