-- Starts of respondents, beside their views.
ALTER TABLE form_views ADD COLUMN started bigint NOT NULL DEFAULT 0;

-- The setting `closes_at` whose end has been reported; null before the first report.
ALTER TABLE forms ADD COLUMN reported_end text;
-- Forms whose window has an end that is not reported. Times are stored as RFC 3339 in UTC, so that their order is that of the texts.
CREATE INDEX forms_window_end ON forms ((settings->>'closes_at'))
  WHERE accepting AND deleted_at IS NULL AND settings->>'closes_at' IS DISTINCT FROM reported_end;
