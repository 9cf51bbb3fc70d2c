-- The JSON of a note: a new field is added here, and where docs/add-a-field.md says.

CREATE TYPE note_owner AS (id uuid, name text, email text);

-- A note (spec 2.1), its members in the order of the JSON. PostgreSQL writes a row as JSON in half the time of
-- json_build_object. The content comes last, so that `note_summary` can cut it off.
CREATE TYPE note_json AS (
  id uuid, title text, revision int, folder_id uuid, labels text[], links json, invited json, role note_role,
  owner note_owner, share json, created_at text, updated_at text, updated_by uuid, updated_device text,
  deleted boolean, deleted_at text, deleted_by uuid, purge_at text, content text);

-- JSON of a note. PostgreSQL inlines it into the views.
CREATE FUNCTION note_json(
  note notes, p_role note_role, p_folder uuid, p_device text, p_links json, p_owner note_owner, p_invited json,
  p_content text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT to_json(ROW(
    note.id, note.title, note.revision, p_folder, note.labels, p_links, p_invited, p_role, p_owner,
    CASE WHEN p_role = 'owner' AND note.share_token IS NOT NULL THEN json_build_object(
      'url', '/apis/v1/notes/' || note.id || '?share_token=' || note.share_token,
      'token', note.share_token,
      'role', note.share_role,
      'expires_at', rfc3339(note.share_expires_at),
      'created_at', rfc3339(note.share_created_at)) END,
    rfc3339(note.created_at), rfc3339(note.updated_at), note.updated_by, p_device,
    note.deleted_at IS NOT NULL, rfc3339(note.deleted_at), note.deleted_by, rfc3339(note.purge_at),
    p_content)::note_json)::text
$$;

-- JSON of a note without its content. p_json: `note_json` with NULL as the content.
CREATE FUNCTION note_summary(p_json text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT left(p_json, -length(',"content":null}')) || '}' $$;
