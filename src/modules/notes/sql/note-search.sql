-- A key for a list of members: equal lists have equal keys.
CREATE FUNCTION note_audience(p_members uuid[]) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT md5(array_to_string(p_members, ','))::uuid $$;
