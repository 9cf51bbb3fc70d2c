-- The directory also finds words that apostrophes and hyphens join: `obrien` for O'Brien. SQL cannot fold names as the application does,
-- which folds them again after its start (directory-backfill.ts).
UPDATE tenant_members SET folded = NULL
 WHERE folded IS NOT NULL AND (display_name || ' ' || email) ~ '[''`´ʻʼ‘’′＇‐‑-]';
