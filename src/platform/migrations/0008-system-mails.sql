-- Mails of the workspace itself: notifications, codes, invitations. A row stays for 30 days after the end, without its values,
-- so that the same mail is not sent again.
CREATE TABLE system_mails (
  tenant_id    uuid        NOT NULL,
  id           uuid        NOT NULL,
  -- Identifies the mail for its domain.
  key          text        NOT NULL,
  template     text        NOT NULL,
  recipient    text        NOT NULL,
  language     text        NOT NULL,
  -- The values of the template, encrypted; null after the end.
  sealed       text,
  state        text        NOT NULL DEFAULT 'queued'
               CHECK (state IN ('queued', 'sent', 'failed', 'expired', 'cancelled', 'not_configured')),
  -- The response of the mail server to a failed mail.
  error        text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL,
  finished_at  timestamptz,
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX system_mails_key ON system_mails (tenant_id, key);
CREATE INDEX system_mails_expired ON system_mails (expires_at) WHERE state = 'queued';
CREATE INDEX system_mails_finished ON system_mails (finished_at) WHERE finished_at IS NOT NULL;
