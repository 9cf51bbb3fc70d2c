-- The row of an erased account stays without personal data: its id must not be used again.
ALTER TABLE accounts ADD COLUMN erased_at timestamptz(3);
