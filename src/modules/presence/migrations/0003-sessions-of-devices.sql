-- The session of the token that opened the socket; null for tokens of an external issuer. A browser with an open socket gets no push.
ALTER TABLE presence_devices ADD COLUMN session_id uuid;
