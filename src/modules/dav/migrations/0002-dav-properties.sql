-- Properties of collections that the server does not know. They belong to one user, like the collection's colour and order.
CREATE TABLE dav_properties (
  tenant_id       uuid  NOT NULL,
  collection_id   uuid  NOT NULL,
  user_id         uuid  NOT NULL,
  calendar_id     uuid,
  task_folder_id  uuid,
  addressbook_id  uuid,
  -- XML by name, e.g. {urn:example}note.
  properties      jsonb NOT NULL,
  PRIMARY KEY (tenant_id, collection_id, user_id),
  CHECK (num_nonnulls(calendar_id, task_folder_id, addressbook_id) = 1
         AND collection_id = coalesce(calendar_id, task_folder_id, addressbook_id)),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_members (tenant_id, user_id),
  FOREIGN KEY (tenant_id, calendar_id) REFERENCES calendars (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, task_folder_id) REFERENCES task_folders (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, addressbook_id) REFERENCES addressbooks (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX dav_properties_user ON dav_properties (tenant_id, user_id);
CREATE INDEX dav_properties_calendar ON dav_properties (tenant_id, calendar_id) WHERE calendar_id IS NOT NULL;
CREATE INDEX dav_properties_folder ON dav_properties (tenant_id, task_folder_id) WHERE task_folder_id IS NOT NULL;
CREATE INDEX dav_properties_addressbook ON dav_properties (tenant_id, addressbook_id) WHERE addressbook_id IS NOT NULL;
