-- Progress of the search for arrived mail, for users who want events of it.
CREATE TABLE mail_arrival_scans (
  tenant_id       uuid           NOT NULL,
  user_id         uuid           NOT NULL,
  -- The inbox; null: the next search begins with its newest message.
  mailbox         text,
  -- Id of the newest message that has been read.
  last_message    bigint         NOT NULL,
  -- Arrival of the newest message that was reported: a message that is moved back into the inbox is older.
  last_arrival    timestamptz(3),
  -- Cursor of the next, older page; null: no search is in progress.
  next_page       text,
  -- Newest message that the search in progress has read.
  newest_message  bigint,
  scanned_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES mail_accounts (tenant_id, user_id) ON DELETE CASCADE
);
