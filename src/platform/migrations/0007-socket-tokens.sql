-- Tokens with which a client opens a socket. Each is used once; only its hash is stored.
CREATE TABLE socket_tokens (
  tenant_id   uuid        NOT NULL,
  hash        bytea       NOT NULL,
  user_id     uuid        NOT NULL,
  session_id  uuid,
  created_at  timestamptz NOT NULL DEFAULT now(),
  expires_at  timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, hash)
);
CREATE INDEX socket_tokens_expired ON socket_tokens (expires_at);
