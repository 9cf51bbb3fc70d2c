-- Reports a change of access to the connection that writes it (`CommitNotices`), so that all processes read it after the commit.
CREATE FUNCTION access_changes_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE INFO 'identity.access' USING ERRCODE = 'WB001';
  RETURN NULL;
END $$;
CREATE TRIGGER access_changes_added AFTER INSERT ON access_changes
  FOR EACH STATEMENT EXECUTE FUNCTION access_changes_added();
