-- Members whose mail account is still to be created: the mail service accepts mail for them before they first open it.
CREATE TABLE mail_pending_accounts (
  tenant_id  uuid           NOT NULL,
  user_id    uuid           NOT NULL,
  retry_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX mail_pending_accounts_due ON mail_pending_accounts (retry_at);

-- Once: members of earlier versions.
INSERT INTO mail_pending_accounts (tenant_id, user_id)
SELECT tenant_id, user_id FROM tenant_members AS member
 WHERE member.status = 'active' AND NOT EXISTS (
   SELECT FROM mail_accounts AS account
    WHERE account.tenant_id = member.tenant_id AND account.user_id = member.user_id);
