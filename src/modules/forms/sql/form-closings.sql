-- Appends `form.closed` without an actor. p_reason: `window_ended`, `quota_reached`
CREATE FUNCTION form_append_closed(p_tenant uuid, p_form uuid, p_reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (p_tenant, uuid_v7(), 'form.closed', jsonb_build_object('form_id', p_form, 'reason', p_reason));
END $$;

-- Reports up to p_limit ends of windows, each once: concurrent calls skip the forms of each other. For a form that is full, the
-- event was appended when it became full. Returns the number of ends. Index forms_window_end.
CREATE FUNCTION forms_close_ended(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_form record;
  v_count int := 0;
BEGIN
  FOR v_form IN
    SELECT form.tenant_id, form.id, (form.settings->>'max_responses')::bigint AS quota FROM forms form
     WHERE form.accepting AND form.deleted_at IS NULL AND form.settings->>'closes_at' IS DISTINCT FROM form.reported_end
       AND form.settings->>'closes_at' <= to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
     ORDER BY form.settings->>'closes_at' LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
  LOOP
    UPDATE forms form SET reported_end = form.settings->>'closes_at'
     WHERE form.tenant_id = v_form.tenant_id AND form.id = v_form.id;
    IF v_form.quota IS NULL
       OR (SELECT counter.count FROM form_response_count(v_form.tenant_id, v_form.id) counter) < v_form.quota THEN
      PERFORM form_append_closed(v_form.tenant_id, v_form.id, 'window_ended');
    END IF;
    v_count := v_count + 1;
  END LOOP;
  RETURN v_count;
END $$;
