CREATE TYPE contact_import_action AS ENUM ('created', 'updated', 'unchanged');

CREATE TABLE contact_imports (
  tenant_id       uuid           NOT NULL,
  id              uuid           NOT NULL,
  addressbook_id  uuid           NOT NULL,
  user_id         uuid           NOT NULL,
  device_id       text           NOT NULL,
  -- Numbers of cards by outcome.
  counts          jsonb          NOT NULL,
  -- The first errors, in the order of the cards.
  errors          jsonb          NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  undone_at       timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, addressbook_id) REFERENCES addressbooks (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_imports_user ON contact_imports (tenant_id, user_id, id);
CREATE INDEX contact_imports_created ON contact_imports (created_at);

-- The contacts that an import wrote or found unchanged.
CREATE TABLE contact_import_items (
  tenant_id    uuid                  NOT NULL,
  import_id    uuid                  NOT NULL,
  contact_id   uuid                  NOT NULL,
  action       contact_import_action NOT NULL,
  -- Revision of the contact after the import.
  revision     int                   NOT NULL,
  -- SHA-256 of the card that the device sent.
  source_hash  bytea                 NOT NULL,
  -- The card before an update.
  original     json,
  PRIMARY KEY (tenant_id, import_id, contact_id),
  FOREIGN KEY (tenant_id, import_id) REFERENCES contact_imports (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_import_items_contact ON contact_import_items (tenant_id, contact_id);
