-- Functions that processes of release 0.1.0 call (CONTRIBUTING.md, "Change the schema"). Delete the file when a later release is
-- recorded.

CREATE FUNCTION notes_trash_folders(p_tenant uuid, p_user uuid, p_folders uuid[], p_keep_days int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM notes_trash_batch(p_tenant, p_user, p_folders, p_keep_days, NULL);
END $$;

CREATE FUNCTION notes_move_folder(p_tenant uuid, p_user uuid, p_from uuid, p_to uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM notes_move_batch(p_tenant, p_user, p_from, p_to, NULL);
END $$;

CREATE FUNCTION notes_transfer(p_tenant uuid, p_from uuid, p_to uuid, p_actor uuid) RETURNS int LANGUAGE sql AS $$
  SELECT notes_transfer_batch(p_tenant, p_from, p_to, p_actor, NULL);
$$;
