-- Queues of fast receivers, and those of slow ones: thousands of these may wait and are not passed to find the others.
DROP INDEX webhook_queues_ready;
CREATE INDEX webhook_queues_ready ON webhook_queues (is_slow, ready_at);
