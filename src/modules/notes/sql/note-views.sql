CREATE FUNCTION note_role(r smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE r WHEN 3 THEN 'owner' WHEN 2 THEN 'editor' WHEN 1 THEN 'viewer' END $$;

-- The one shape of a note (spec 2.1), content apart. PostgreSQL inlines it into the views below.
CREATE FUNCTION note_summary(n notes, p_role smallint, p_folder uuid, p_owner json, p_invited json) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT json_build_object(
    'id', n.id,
    'title', n.title,
    'revision', n.revision,
    'folder_id', p_folder,
    'labels', n.labels,
    'links', n.links,
    'invited', p_invited,
    'role', note_role(p_role),
    'owner', p_owner,
    'share', CASE WHEN p_role = 3 AND n.share_token IS NOT NULL THEN json_build_object(
      'url', '/apis/v1/notes/' || n.id || '?share_token=' || n.share_token,
      'token', n.share_token,
      'role', note_role(n.share_role),
      'expires_at', rfc3339(n.share_expires_at),
      'created_at', rfc3339(n.share_created_at)) END,
    'created_at', rfc3339(n.created_at),
    'updated_at', rfc3339(n.updated_at),
    'updated_by', n.updated_by,
    'deleted', n.deleted_at IS NOT NULL,
    'deleted_at', rfc3339(n.deleted_at),
    'deleted_by', n.deleted_by,
    'purge_at', rfc3339(n.purge_at))::text
$$;

CREATE FUNCTION note_with_content(summary text, content text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT left(summary, -1) || ', "content" : ' || to_json(content)::text || '}' $$;

-- Notes as their members see them. Everything that answers with a note selects from here.
CREATE VIEW note_views AS
SELECT s.tenant_id, s.user_id, s.note_id, s.role, note_role(s.role) AS role_name, s.revision, s.content_bytes,
       s.summary, note_with_content(s.summary, s.content) AS note
  FROM (
    SELECT m.tenant_id, m.user_id, m.note_id, m.role, n.revision, n.content_bytes, r.content,
           note_summary(n, m.role, m.folder_id,
             json_build_object('id', n.owner_id, 'name', o.display_name, 'email', o.email),
             CASE WHEN cardinality(n.member_ids) = 1 THEN '[]'::json ELSE (
               SELECT coalesce(json_agg(json_build_object(
                        'user_id', i.id, 'id', i.id, 'email', p.email, 'name', p.display_name,
                        'role', note_role(i.role), 'invited_at', rfc3339(im.since)) ORDER BY i.n), '[]'::json)
                 FROM unnest(n.member_ids, n.member_roles) WITH ORDINALITY AS i (id, role, n)
                 JOIN note_members im ON im.tenant_id = n.tenant_id AND im.note_id = n.id AND im.user_id = i.id
                 LEFT JOIN tenant_members p ON p.tenant_id = n.tenant_id AND p.user_id = i.id
                WHERE i.role <> 3) END) AS summary
      FROM note_members m
      JOIN notes n ON n.tenant_id = m.tenant_id AND n.id = m.note_id
      JOIN note_revisions r ON r.tenant_id = n.tenant_id AND r.note_id = n.id AND r.revision = n.body_rev
      LEFT JOIN tenant_members o ON o.tenant_id = n.tenant_id AND o.user_id = n.owner_id
     WHERE m.role IS NOT NULL) s;

-- Notes as somebody sees them who has only the link: without the list of who else was invited, and not in the trash.
CREATE VIEW shared_note_views AS
SELECT s.tenant_id, s.note_id, s.share_token, s.share_expires_at, s.role, note_role(s.role) AS role_name, s.revision,
       note_with_content(s.summary, s.content) AS note
  FROM (
    SELECT n.tenant_id, n.id AS note_id, n.share_token, n.share_expires_at, n.share_role AS role, n.revision, r.content,
           note_summary(n, n.share_role, NULL,
             json_build_object('id', n.owner_id, 'name', o.display_name, 'email', o.email), '[]'::json) AS summary
      FROM notes n
      JOIN note_revisions r ON r.tenant_id = n.tenant_id AND r.note_id = n.id AND r.revision = n.body_rev
      LEFT JOIN tenant_members o ON o.tenant_id = n.tenant_id AND o.user_id = n.owner_id
     WHERE n.share_token IS NOT NULL AND n.deleted_at IS NULL) s;
