-- The event and the sender of a delivery: mails of a member about one event reach a recipient in their order. Null: about no event, or by
-- the previous release.
ALTER TABLE scheduling_deliveries ADD COLUMN event_id uuid, ADD COLUMN user_id uuid;
UPDATE scheduling_deliveries delivery SET event_id = message.event_id, user_id = message.user_id
  FROM scheduling_messages message
 WHERE delivery.status = 'queued' AND message.tenant_id = delivery.tenant_id AND message.id = delivery.message_id;
CREATE INDEX scheduling_deliveries_order ON scheduling_deliveries (tenant_id, event_id, recipient, user_id, message_id)
  WHERE status = 'queued';
