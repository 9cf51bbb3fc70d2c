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
