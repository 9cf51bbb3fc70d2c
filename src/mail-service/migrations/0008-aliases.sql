-- Earlier addresses of accounts. Mail to them is delivered until another account gets the address.
CREATE TABLE aliases (
  address text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX aliases_by_user ON aliases (user_id);
CREATE INDEX aliases_by_domain ON aliases (substring(address FROM '[^@]*$'));
