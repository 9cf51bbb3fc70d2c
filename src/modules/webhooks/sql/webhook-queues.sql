-- Ends the lease of a queue. It locks the row before it reads the pending deliveries: a delivery that is added meanwhile is either
-- seen here, or sets the time of the queue afterwards.
-- @param p_pause seconds for which the queue rests, after a failure
-- @returns seconds until the queue is ready again; null: it has no pending deliveries, or another process has it
CREATE FUNCTION webhook_release(
  p_tenant uuid, p_webhook uuid, p_claims int, p_pause float8, p_failures int, p_slow boolean
) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  v_due timestamptz;
  v_until timestamptz := clock_timestamp() + make_interval(secs => p_pause);
BEGIN
  PERFORM FROM webhook_queues WHERE tenant_id = p_tenant AND webhook_id = p_webhook AND claims = p_claims FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT min(due_at) INTO v_due FROM webhook_deliveries
   WHERE tenant_id = p_tenant AND webhook_id = p_webhook AND state = 'pending'
     AND EXISTS (SELECT FROM webhooks WHERE tenant_id = p_tenant AND id = p_webhook AND active);
  v_due := coalesce(v_due, 'infinity');
  UPDATE webhook_queues
     SET due_at = v_due, held_until = v_until, ready_at = greatest(v_due, v_until), failures = p_failures, is_slow = p_slow,
         failing_since = CASE WHEN p_failures > 0 THEN coalesce(failing_since, clock_timestamp()) END
   WHERE tenant_id = p_tenant AND webhook_id = p_webhook;
  RETURN CASE WHEN v_due < 'infinity' THEN greatest(0, extract(epoch FROM greatest(v_due, v_until) - clock_timestamp())) END;
END $$;
