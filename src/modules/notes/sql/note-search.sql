-- A key for a list of members: equal lists have equal keys. STABLE as array_to_string(), since PostgreSQL inlines no function that is
-- declared stricter than its parts.
CREATE FUNCTION note_audience(p_members uuid[]) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT md5(array_to_string(p_members, ','))::uuid $$;
