CREATE FUNCTION note_with_content(summary text, content text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT left(summary, -1) || ', "content" : ' || to_json(content)::text || '}' $$;

-- Links with the titles of the tasks that the user can read; other titles are null. A function of its own: few notes have
-- links, and the tables of tasks in the view would be opened for every note.
CREATE FUNCTION note_links(v_note notes, p_user uuid) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT json_agg(link.value || jsonb_build_object('title', task.title) ORDER BY link.position)
      FROM jsonb_array_elements(v_note.links) WITH ORDINALITY AS link (value, position)
      LEFT JOIN task_titles task ON task.tenant_id = v_note.tenant_id AND task.user_id = p_user
                                AND task.task_id = (link.value->>'id')::uuid);
END $$;

-- Notes as their members see them. Every response with a note selects from here.
CREATE VIEW note_views AS
SELECT shown.tenant_id, shown.user_id, shown.note_id, shown.role, shown.revision, shown.content_bytes,
       shown.summary, note_with_content(shown.summary, shown.content) AS note
  FROM (
    SELECT member.tenant_id, member.user_id, member.note_id, member.role, note.revision, note.content_bytes, body.content,
           note_summary(note, member.role, member.folder_id, member.device_id,
             CASE WHEN note.links = '[]' THEN '[]' ELSE note_links(note, member.user_id) END,
             json_build_object('id', note.owner_id, 'name', owner.display_name, 'email', owner.email),
             CASE WHEN cardinality(note.member_ids) = 1 THEN '[]'::json ELSE (
               SELECT coalesce(json_agg(json_build_object(
                        'user_id', invited.id, 'id', invited.id, 'email', profile.email, 'name', profile.display_name,
                        'role', invited.role, 'invited_at', rfc3339(placement.since)) ORDER BY invited.position), '[]'::json)
                 FROM unnest(note.member_ids, note.member_roles) WITH ORDINALITY AS invited (id, role, position)
                 JOIN note_members placement ON placement.tenant_id = note.tenant_id AND placement.note_id = note.id
                                            AND placement.user_id = invited.id
                 LEFT JOIN member_profiles profile ON profile.tenant_id = note.tenant_id AND profile.user_id = invited.id
                WHERE invited.role <> 'owner') END) AS summary
      FROM note_members member
      JOIN notes note ON note.tenant_id = member.tenant_id AND note.id = member.note_id
      JOIN note_revisions body ON body.tenant_id = note.tenant_id AND body.note_id = note.id AND body.revision = note.body_rev
      LEFT JOIN member_profiles owner ON owner.tenant_id = note.tenant_id AND owner.user_id = note.owner_id
     WHERE member.role IS NOT NULL) shown;

-- Notes as a visitor with the share link sees them: without invited members and titles of tasks, and not in the trash. A
-- link works while its owner is an active member.
CREATE VIEW shared_note_views AS
SELECT shown.tenant_id, shown.note_id, shown.share_token, shown.share_expires_at, shown.role, shown.revision,
       note_with_content(shown.summary, shown.content) AS note
  FROM (
    SELECT note.tenant_id, note.id AS note_id, note.share_token, note.share_expires_at, note.share_role AS role,
           note.revision, body.content,
           note_summary(note, note.share_role, NULL, NULL,
             CASE WHEN note.links = '[]' THEN '[]' ELSE note_links(note, NULL) END,
             json_build_object('id', note.owner_id, 'name', owner.display_name, 'email', owner.email), '[]'::json) AS summary
      FROM notes note
      JOIN note_revisions body ON body.tenant_id = note.tenant_id AND body.note_id = note.id AND body.revision = note.body_rev
      JOIN member_profiles owner ON owner.tenant_id = note.tenant_id AND owner.user_id = note.owner_id
                               AND owner.status = 'active'
     WHERE note.share_token IS NOT NULL AND note.deleted_at IS NULL) shown;
