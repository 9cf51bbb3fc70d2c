-- Subscriptions end with their session, which is known by its account.
CREATE INDEX push_subscriptions_bound ON push_subscriptions (user_id) WHERE session_id IS NOT NULL;
