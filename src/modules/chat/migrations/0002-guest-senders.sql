-- The name that a guest chose. Null: the sender is a member.
ALTER TABLE chat_messages ADD COLUMN guest_name text;
