-- The keys by which the installation identifies itself at push services (RFC 8292). Subscriptions of browsers accept the key with which
-- they were made only, so a key that was replaced still signs for them.
CREATE TABLE push_keys (
  id                  uuid        PRIMARY KEY,
  -- base64url of the uncompressed point.
  public_key          text        NOT NULL,
  -- A JSON Web Key, encrypted with SECRET_KEYS.
  sealed_private_key  text        NOT NULL,
  created_at          timestamptz NOT NULL DEFAULT now()
);

-- The devices of members. The keys encrypt messages for the device, whose private key it keeps.
CREATE TABLE push_subscriptions (
  tenant_id    uuid        NOT NULL,
  user_id      uuid        NOT NULL,
  id           uuid        NOT NULL,
  endpoint     text        NOT NULL,
  -- SHA-256, base64url: identifies the device.
  endpoint_hash text       NOT NULL,
  -- The origin of the endpoint.
  service      text        NOT NULL,
  -- base64url.
  p256dh       text        NOT NULL,
  auth         text        NOT NULL,
  key_id       uuid        NOT NULL,
  description  text        NOT NULL,
  -- Whether the device accepts messages that show nothing: withdrawals.
  can_dismiss  boolean     NOT NULL,
  -- The session of the device: its end ends the subscription. Null for tokens of an external issuer.
  session_id   uuid,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  -- The last attempt.
  attempted_at timestamptz(3),
  status_code  int,
  error        text,
  PRIMARY KEY (tenant_id, user_id, id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id)
);
CREATE UNIQUE INDEX push_subscriptions_endpoint ON push_subscriptions (tenant_id, endpoint_hash, user_id);

-- One notification for one device.
CREATE TABLE push_deliveries (
  tenant_id        uuid        NOT NULL,
  user_id          uuid        NOT NULL,
  subscription_id  uuid        NOT NULL,
  notification_id  uuid        NOT NULL,
  -- Key of its type.
  type             text        NOT NULL,
  service          text        NOT NULL,
  -- What is sent next, or was sent: the notification, or its withdrawal.
  kind             text        NOT NULL DEFAULT 'shown' CHECK (kind IN ('shown', 'dismissed')),
  state            text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sent')),
  -- Whether the device shows an earlier message of the notification.
  is_shown         boolean     NOT NULL DEFAULT false,
  -- The next attempt, or the next examination of a message that was sent; also the end of the lease of a process. infinity: none.
  due_at           timestamptz NOT NULL DEFAULT now(),
  -- From then on the message is of no use.
  expires_at       timestamptz NOT NULL,
  attempts         int         NOT NULL DEFAULT 0,
  -- Identifies a lease: the next one, and a further cause, have another number.
  claims           int         NOT NULL DEFAULT 0,
  created_at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id, subscription_id, notification_id),
  FOREIGN KEY (tenant_id, user_id, subscription_id) REFERENCES push_subscriptions (tenant_id, user_id, id) ON DELETE CASCADE
);
CREATE INDEX push_deliveries_due ON push_deliveries (due_at);
CREATE INDEX push_deliveries_age ON push_deliveries (created_at);
