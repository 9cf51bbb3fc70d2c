-- The grace time before the erasure of personal data begins with the end of the membership.
ALTER TABLE tenant_members ADD COLUMN deactivated_at timestamptz(3);
-- Start of the erasure. The row stays, because content of other members refers to it.
ALTER TABLE tenant_members ADD COLUMN erased_at timestamptz(3);
UPDATE tenant_members SET deactivated_at = now() WHERE status = 'deactivated';

-- Days between the end of a membership and the erasure of the personal data; null: no erasure by time.
ALTER TABLE tenant_policies ADD COLUMN erase_after_days int;
