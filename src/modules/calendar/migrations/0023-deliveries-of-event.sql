-- Whether a recipient knows an earlier version of an event. Deliveries of messages that were sent before the column was added get their
-- event too: they are those of the last 180 days. The index scheduling_messages_event serves the previous release only.
UPDATE scheduling_deliveries delivery SET event_id = message.event_id
  FROM scheduling_messages message
 WHERE delivery.event_id IS NULL AND message.tenant_id = delivery.tenant_id AND message.id = delivery.message_id
   AND message.event_id IS NOT NULL;
CREATE INDEX scheduling_deliveries_event ON scheduling_deliveries (tenant_id, event_id, recipient) WHERE event_id IS NOT NULL;
