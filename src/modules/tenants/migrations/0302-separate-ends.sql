-- Whether a membership ended by itself, and not with the account: reopening the account does not restore it.
ALTER TABLE tenant_members ADD COLUMN ended_separately boolean NOT NULL DEFAULT false;
