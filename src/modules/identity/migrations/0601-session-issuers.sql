-- The issuer of the workspace by which the user signed in; null: by password or passkey of this service.
ALTER TABLE sessions ADD COLUMN issuer text;
