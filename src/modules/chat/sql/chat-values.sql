CREATE FUNCTION chat_attachment_json(file chat_attachments) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object(
    'id', file.id, 'name', file.name, 'size', file.size, 'content_type', file.content_type,
    'sha256', encode(file.sha256, 'hex'), 'url', '/apis/v1/chat/attachments/' || file.id,
    'thumbnail_url', CASE WHEN file.thumbnail_id IS NOT NULL THEN '/apis/v1/chat/attachments/' || file.id || '/thumbnail' END)
$$;

-- The reactions of a message after a user has added or removed one: [{emoji, count, user_ids}], in the order of the first use.
CREATE FUNCTION chat_reactions(p_reactions jsonb, p_user uuid, p_emoji text, p_on boolean) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  v_users jsonb := coalesce((
    SELECT entry->'user_ids' FROM jsonb_array_elements(p_reactions) entry WHERE entry->>'emoji' = p_emoji), '[]');
  v_entry jsonb;
BEGIN
  IF (v_users ? p_user::text) = p_on THEN RETURN p_reactions; END IF;
  v_users := CASE WHEN p_on THEN v_users || to_jsonb(p_user::text) ELSE v_users - p_user::text END;
  v_entry := jsonb_build_object('emoji', p_emoji, 'count', jsonb_array_length(v_users), 'user_ids', v_users);
  IF NOT EXISTS (SELECT FROM jsonb_array_elements(p_reactions) entry WHERE entry->>'emoji' = p_emoji) THEN
    RETURN p_reactions || jsonb_build_array(v_entry);
  END IF;
  RETURN coalesce((
    SELECT jsonb_agg(CASE WHEN entry->>'emoji' = p_emoji THEN v_entry ELSE entry END ORDER BY position)
      FROM jsonb_array_elements(p_reactions) WITH ORDINALITY AS listed (entry, position)
     WHERE entry->>'emoji' <> p_emoji OR jsonb_array_length(v_users) > 0), '[]');
END $$;
