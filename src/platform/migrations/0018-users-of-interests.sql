-- Events of one user, such as those of mail, are appended for the users who want them.
ALTER TABLE event_interests
  -- Null: the events of the whole workspace.
  ADD COLUMN user_id uuid,
  ADD COLUMN created_at timestamptz(3) NOT NULL DEFAULT now();
CREATE INDEX event_interests_users ON event_interests (type, tenant_id, user_id) WHERE user_id IS NOT NULL;
