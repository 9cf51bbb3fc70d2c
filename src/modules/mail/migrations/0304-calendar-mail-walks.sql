-- A search that has more new messages than one run reads continues in the next run.
ALTER TABLE mail_calendar_scans
  -- Cursor of the next, older page; null: no search is in progress.
  ADD COLUMN next_page text,
  -- Newest message that the search has read; it becomes last_message when the search reaches last_message.
  ADD COLUMN newest_message bigint;
