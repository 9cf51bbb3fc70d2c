-- Jobs of the directory run once. Their runs in other cells, which have an empty list of cells, are no longer repeated and would
-- count as overdue.
DELETE FROM job_runs
 WHERE name IN ('account-tokens.forget', 'cells.finish-moves', 'encode-tenant-logos', 'forget-ended-sessions', 'guess-locks.forget',
                'passkey-challenges.forget', 'rate-limits.forget', 'sign-in.forget-expired')
   AND NOT EXISTS (SELECT FROM cells);
