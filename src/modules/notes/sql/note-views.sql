-- Links with the titles of the tasks that the user can read; other titles are null. Not a part of the view, which would open the
-- tables of tasks for every note, while few notes have links.
CREATE FUNCTION note_links(v_note notes, p_user uuid) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT json_agg(link.value || jsonb_build_object('title', task.title) ORDER BY link.position)
      FROM jsonb_array_elements(v_note.links) WITH ORDINALITY AS link (value, position)
      LEFT JOIN task_titles task ON task.tenant_id = v_note.tenant_id AND task.user_id = p_user
                                AND task.task_id = (link.value->>'id')::uuid);
END $$;

-- The invited members of a note. Not a part of the view, because few notes have any.
CREATE FUNCTION note_invited(v_note notes) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(json_build_object(
             'user_id', invited.id, 'id', invited.id, 'email', profile.email, 'name', profile.display_name,
             'role', invited.role, 'invited_at', rfc3339(placement.since)) ORDER BY invited.position), '[]')
      FROM unnest(v_note.member_ids, v_note.member_roles) WITH ORDINALITY AS invited (id, role, position)
      JOIN note_members placement ON placement.tenant_id = v_note.tenant_id AND placement.note_id = v_note.id
                                 AND placement.user_id = invited.id
      LEFT JOIN member_profiles profile ON profile.tenant_id = v_note.tenant_id AND profile.user_id = invited.id
     WHERE invited.role <> 'owner');
END $$;

-- JSON of a note as one member sees it. PostgreSQL inlines it.
CREATE FUNCTION note_member_json(note notes, member note_members, p_owner note_owner, p_content text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT note_json(note, member.role, member.folder_id, member.device_id,
    CASE WHEN note.links = '[]' THEN '[]' ELSE note_links(note, member.user_id) END, p_owner,
    CASE WHEN cardinality(note.member_ids) = 1 THEN '[]' ELSE note_invited(note) END, p_content)
$$;

-- Notes as their members see them. Every response with a note selects from here or, where it has the rows already, calls
-- the same function. The content is a look-up by the whole key: in a join the planner may read all revisions of the note
-- instead, because most notes have only one.
CREATE VIEW note_views AS
SELECT shown.tenant_id, shown.user_id, shown.note_id, shown.role, (shown.note).revision, (shown.note).content_bytes,
       note_summary(note_member_json(shown.note, shown.member, shown.owner, NULL)) AS summary,
       note_member_json(shown.note, shown.member, shown.owner, (
         SELECT content FROM note_revisions
          WHERE tenant_id = shown.tenant_id AND note_id = shown.note_id AND revision = (shown.note).body_rev)) AS note
  FROM (
    SELECT member.tenant_id, member.user_id, member.note_id, member.role, note, member,
           (note.owner_id, owner.display_name, owner.email)::note_owner AS owner
      FROM note_members member
      JOIN notes note ON note.tenant_id = member.tenant_id AND note.id = member.note_id
      LEFT JOIN member_profiles owner ON owner.tenant_id = note.tenant_id AND owner.user_id = note.owner_id
     WHERE member.role IS NOT NULL) shown;

-- Notes as a visitor with the share link sees them: without invited members and titles of tasks, and not in the trash. A
-- link works while its owner is an active member.
CREATE VIEW shared_note_views AS
SELECT note.tenant_id, note.id AS note_id, note.share_token, note.share_expires_at, note.share_role AS role, note.revision,
       note_json(note, note.share_role, NULL, NULL,
         CASE WHEN note.links = '[]' THEN '[]' ELSE note_links(note, NULL) END,
         (note.owner_id, owner.display_name, owner.email)::note_owner, '[]'::json, (
           SELECT content FROM note_revisions
            WHERE tenant_id = note.tenant_id AND note_id = note.id AND revision = note.body_rev)) AS note
  FROM notes note
  JOIN member_profiles owner ON owner.tenant_id = note.tenant_id AND owner.user_id = note.owner_id
                           AND owner.status = 'active'
 WHERE note.share_token IS NOT NULL AND note.deleted_at IS NULL;
