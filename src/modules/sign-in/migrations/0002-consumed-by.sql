-- HMAC of the address that used a refresh token, for the grace time of rotation.
ALTER TABLE oidc_records ADD COLUMN consumed_by bytea;
