-- The one shape of a message, from which every response selects.
CREATE VIEW chat_message_views AS
SELECT message.tenant_id, message.room_id, message.seq, message.mod_seq, message.id, message.tsv,
       json_build_object(
         'id', message.id, 'room_id', message.room_id, 'seq', message.seq, 'mod_seq', message.mod_seq,
         'kind', message.kind,
         'sender', json_build_object('kind', 'user', 'id', message.sender_id, 'display_name', sender.display_name),
         'body', message.body, 'format', message.format, 'event', message.event,
         'reply_to', message.reply_to, 'reply_to_seq', message.reply_to_seq,
         'mentions', message.mentions, 'attachments', message.attachments, 'reactions', message.reactions,
         'client_msg_id', message.client_msg_id,
         'created_at', rfc3339(message.created_at), 'edited_at', rfc3339(message.edited_at),
         'deleted_at', rfc3339(message.deleted_at), 'deleted_by', message.deleted_by)::text AS message
  FROM chat_messages message
  LEFT JOIN member_profiles sender ON sender.tenant_id = message.tenant_id AND sender.user_id = message.sender_id;
