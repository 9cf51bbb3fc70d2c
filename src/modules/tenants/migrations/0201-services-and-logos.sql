-- Accounts of services are members of a workspace without being colleagues: lists of people leave them out.
ALTER TABLE tenant_members ADD COLUMN is_service boolean NOT NULL DEFAULT false;
UPDATE tenant_members SET is_service = true WHERE email LIKE '%@clients.invalid';

-- Logos of earlier versions have the bytes of the upload; a job encodes them again.
ALTER TABLE tenant_logos ADD COLUMN is_encoded boolean NOT NULL DEFAULT false;
