-- Each person's account at the mail service, one for each workspace. Password and token are sealed by the application.
CREATE TABLE mail_accounts (
  tenant_id      uuid           NOT NULL,
  user_id        uuid           NOT NULL,
  origin         text           NOT NULL CHECK (origin IN ('created', 'linked')),
  username       text           NOT NULL,
  -- Null for linked accounts: the mail service knows it.
  address        text,
  -- The account's id there; null until it has been created.
  mail_user_id   text,
  password       text,
  token          text,
  -- Counts the tokens: who finds one dead asks for a later one.
  token_version  int            NOT NULL DEFAULT 0,
  -- Who talks to the mail service about this account now, and until when at most: a killed process blocks nobody for long.
  lease_id       uuid,
  lease_until    timestamptz,
  -- After a refusal: not before. The mail service locks accounts at which somebody keeps knocking.
  retry_at       timestamptz,
  -- Why, in the mail service's words.
  refusal        text,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  updated_at     timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id)
);

-- Where messages were moved from: the mail service keeps no record of it. A message's id changes with each move, so a
-- row describes a message that lies in `mailbox` now.
CREATE TABLE mail_moves (
  tenant_id   uuid           NOT NULL,
  user_id     uuid           NOT NULL,
  mailbox     text           NOT NULL,
  message_id  bigint         NOT NULL,
  origin      text           NOT NULL,
  moved_at    timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id, mailbox, message_id)
);
CREATE INDEX mail_moves_old ON mail_moves (moved_at);

-- Whom a person writes to, for autocomplete.
CREATE TABLE mail_recipients (
  tenant_id     uuid           NOT NULL,
  user_id       uuid           NOT NULL,
  -- The address as it is compared: NFKC, lower case.
  address_key   text           NOT NULL,
  address       text           NOT NULL,
  name          text           NOT NULL,
  uses          int            NOT NULL DEFAULT 1,
  last_used_at  timestamptz(3) NOT NULL DEFAULT now(),
  -- How often and how lately in one number that does not change as time goes by (see mail_recipients_record).
  rank          double precision NOT NULL,
  -- The message that was counted last: saving a draft again and sending it count once.
  cause         text           NOT NULL,
  PRIMARY KEY (tenant_id, user_id, address_key)
);
CREATE INDEX mail_recipients_rank ON mail_recipients (tenant_id, user_id, rank DESC, address_key);

-- Counts a message's recipients, once for each `p_cause`. `p_previous` is the draft that the message replaces: it was
-- counted already. A use weighs half after 30 days; the rank is the binary logarithm of the sum of weights, seen from a
-- fixed day (forward decay), so that ranks of different days compare and an index can hold them.
CREATE FUNCTION mail_recipients_record(
  p_tenant uuid, p_user uuid, p_keys text[], p_addresses text[], p_names text[], p_cause text, p_previous text, p_keep int
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_now double precision := extract(epoch FROM now()) / (30 * 86400);
BEGIN
  INSERT INTO mail_recipients AS r (tenant_id, user_id, address_key, address, name, rank, cause)
  SELECT p_tenant, p_user, g.key, g.address, g.name, v_now, p_cause
    FROM unnest(p_keys, p_addresses, p_names) AS g (key, address, name) ORDER BY g.key
  ON CONFLICT (tenant_id, user_id, address_key) DO UPDATE SET
    address = excluded.address,
    name = CASE WHEN excluded.name = '' THEN r.name ELSE excluded.name END,
    uses = CASE WHEN r.cause IN (p_cause, p_previous) THEN r.uses ELSE r.uses + 1 END,
    rank = CASE WHEN r.cause IN (p_cause, p_previous) THEN r.rank
           ELSE greatest(r.rank, v_now) + ln(1 + power(2::float8, -least(abs(r.rank - v_now), 1000))) / ln(2::float8) END,
    last_used_at = now(),
    cause = p_cause;
  -- Bounded: the least used go.
  DELETE FROM mail_recipients r USING (
    SELECT address_key FROM mail_recipients WHERE tenant_id = p_tenant AND user_id = p_user
     ORDER BY rank DESC, address_key OFFSET p_keep) AS beyond
   WHERE r.tenant_id = p_tenant AND r.user_id = p_user AND r.address_key = beyond.address_key;
END $$;
