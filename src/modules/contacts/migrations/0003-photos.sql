-- Photos of contacts: JPEG files that the server has encoded. A photo may have several references: contacts, merges and imports
-- that can be undone.
CREATE TABLE contact_photos (
  tenant_id      uuid           NOT NULL,
  id             uuid           NOT NULL,
  blob_id        uuid           NOT NULL,
  -- SHA-256 of the image that the client sent: the same image is not encoded again.
  source_sha256  bytea          NOT NULL,
  -- SHA-256 of the stored file.
  sha256         bytea          NOT NULL,
  size           int            NOT NULL,
  width          int            NOT NULL,
  height         int            NOT NULL,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  -- Time of the next check for references; a photo without any is deleted then. Null: a contact has the photo.
  check_at       timestamptz(3) DEFAULT now() + interval '1 hour',
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX contact_photos_source ON contact_photos (tenant_id, source_sha256);
CREATE INDEX contact_photos_sha256 ON contact_photos (tenant_id, sha256);
CREATE INDEX contact_photos_check ON contact_photos (check_at) WHERE check_at IS NOT NULL;

ALTER TABLE contacts ADD COLUMN photo_id uuid,
  ADD FOREIGN KEY (tenant_id, photo_id) REFERENCES contact_photos (tenant_id, id);
CREATE INDEX contacts_photo ON contacts (tenant_id, photo_id) WHERE photo_id IS NOT NULL;

-- The photo of a contact before an import changed it.
ALTER TABLE contact_import_items ADD COLUMN original_photo_id uuid;
CREATE INDEX contact_import_items_photo ON contact_import_items (tenant_id, original_photo_id) WHERE original_photo_id IS NOT NULL;

-- The photos of `originals`.
ALTER TABLE contact_merges ADD COLUMN photo_ids uuid[] NOT NULL DEFAULT '{}';

CREATE FUNCTION contact_photo_dropped() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE contact_photos SET check_at = now() WHERE tenant_id = OLD.tenant_id AND id = OLD.photo_id;
  RETURN NULL;
END $$;
CREATE TRIGGER contact_photo_replaced AFTER UPDATE OF photo_id ON contacts FOR EACH ROW
  WHEN (OLD.photo_id IS NOT NULL AND OLD.photo_id IS DISTINCT FROM NEW.photo_id) EXECUTE FUNCTION contact_photo_dropped();
CREATE TRIGGER contact_photo_deleted AFTER DELETE ON contacts FOR EACH ROW
  WHEN (OLD.photo_id IS NOT NULL) EXECUTE FUNCTION contact_photo_dropped();
