-- Events as the search engine reads items.
CREATE VIEW searchable_events AS
SELECT tenant_id, id, title, categories AS labels, description, location, revision, created_at
  FROM calendar_events WHERE deleted_at IS NULL;
