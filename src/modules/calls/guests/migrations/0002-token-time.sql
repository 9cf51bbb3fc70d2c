-- When the guest last got a token of the media server.
ALTER TABLE guests ADD COLUMN token_at timestamptz(3);
