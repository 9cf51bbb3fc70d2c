-- A small JPEG of an image, in the blob store. Null: the file has none.
ALTER TABLE chat_attachments ADD COLUMN thumbnail_id uuid, ADD COLUMN thumbnail_size bigint, ADD COLUMN thumbnail_sha256 bytea,
  ADD CHECK ((thumbnail_id IS NULL) = (thumbnail_size IS NULL) AND (thumbnail_id IS NULL) = (thumbnail_sha256 IS NULL));

UPDATE chat_messages SET attachments = (
  SELECT jsonb_agg(file || '{"thumbnail_url": null}' ORDER BY position)
    FROM jsonb_array_elements(attachments) WITH ORDINALITY AS files (file, position))
 WHERE attachments <> '[]';

CREATE OR REPLACE FUNCTION chat_attachments_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM blob_release(deleted.tenant_id, array_agg(blob.id)) FROM deleted
    CROSS JOIN LATERAL (VALUES (deleted.blob_id), (deleted.thumbnail_id)) AS blob (id)
    WHERE blob.id IS NOT NULL GROUP BY deleted.tenant_id;
  RETURN NULL;
END $$;
