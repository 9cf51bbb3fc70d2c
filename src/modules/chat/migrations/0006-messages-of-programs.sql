-- The incoming webhook by which a program has posted a message for its sender; null for all other messages.
ALTER TABLE chat_messages ADD COLUMN via jsonb;
