-- Appends an event if a consumer of the workspace wants its type: for events that are frequent and that few workspaces need.
CREATE FUNCTION append_if_wanted(p_tenant uuid, p_type text, p_payload jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (tenant_id, id, type, payload)
  SELECT p_tenant, uuid_v7(), p_type, p_payload
   WHERE EXISTS (SELECT FROM event_interests WHERE tenant_id = p_tenant AND type = p_type);
END $$;
