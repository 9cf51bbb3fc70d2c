-- Private keys are encrypted (`SecretBox`). The first process that loads a key in clear encrypts it and empties private_jwk.
ALTER TABLE signing_keys ADD COLUMN sealed_private_key text;
ALTER TABLE signing_keys ALTER COLUMN private_jwk DROP NOT NULL;
ALTER TABLE signing_keys ADD CONSTRAINT signing_keys_private_key CHECK ((private_jwk IS NULL) = (sealed_private_key IS NOT NULL));

-- When the client fetched the first token; null: not yet. Such a session is not listed and expires after minutes.
ALTER TABLE sessions ADD COLUMN activated_at timestamptz DEFAULT now();
