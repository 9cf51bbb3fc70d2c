-- The last change of address, name or status of a member; NULL: none is known.
ALTER TABLE tenant_members ADD COLUMN changed_at timestamptz(3);
