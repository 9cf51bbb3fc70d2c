-- Whether the owner closed the account by leaving their last workspace: an administrator who activates a membership then
-- reopens the account. Accounts that the operator closed are reopened by the operator only.
ALTER TABLE accounts ADD COLUMN closed_by_owner boolean NOT NULL DEFAULT false;
