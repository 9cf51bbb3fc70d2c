-- Calendars that arrive by mail name the account of the mail service.
CREATE INDEX mail_accounts_mail_user ON mail_accounts (mail_user_id);

-- Mail services without a list of arrived calendars are searched account by account: progress of the search.
CREATE TABLE mail_calendar_scans (
  tenant_id     uuid           NOT NULL,
  user_id       uuid           NOT NULL,
  -- The inbox; null after a failure to find it.
  mailbox       text,
  -- Id of the newest message that has been read.
  last_message  bigint         NOT NULL,
  scanned_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES mail_accounts (tenant_id, user_id) ON DELETE CASCADE
);
