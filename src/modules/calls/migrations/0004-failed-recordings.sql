-- Recordings that failed expire like those with a file.
UPDATE recordings SET expires_at = updated_at + interval '90 days'
 WHERE state IN ('failed', 'aborted') AND expires_at IS NULL;
