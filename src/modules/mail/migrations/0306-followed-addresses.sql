-- Once: accounts whose user has another address now, and then users who got no account because the former user kept the address.
INSERT INTO mail_pending_accounts (tenant_id, user_id, retry_at)
SELECT account.tenant_id, account.user_id,
       now() + CASE WHEN account.mail_user_id IS NULL THEN interval '30 seconds' ELSE interval '0' END
  FROM mail_accounts AS account
  JOIN tenant_members AS member ON member.tenant_id = account.tenant_id AND member.user_id = account.user_id
 WHERE account.origin = 'created' AND member.erased_at IS NULL
   AND (account.mail_user_id IS NULL OR account.address <> member.email)
ON CONFLICT DO NOTHING;
