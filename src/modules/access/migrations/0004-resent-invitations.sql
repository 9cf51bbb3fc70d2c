-- When the current link of an invitation replaced an earlier one; null: it is the first link.
ALTER TABLE tenant_invitations ADD COLUMN resent_at timestamptz(3);
