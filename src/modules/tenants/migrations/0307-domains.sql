-- The directory finds addresses with an internationalised domain in ASCII and in its own script. The application folds them again after its
-- start (directory-backfill.ts).
UPDATE tenant_members SET folded = NULL WHERE folded IS NOT NULL AND email ~ '@.*([^ -~]|xn--)';
