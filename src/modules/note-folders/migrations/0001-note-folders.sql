-- Each person's own tree of folders. A folder holds notes by the placement in note_members, never by the note itself:
-- invitees file a shared note where they like without learning the owner's folders.
CREATE TABLE note_folders (
  tenant_id   uuid           NOT NULL,
  id          uuid           NOT NULL,
  owner_id    uuid           NOT NULL,
  parent_id   uuid,
  name        text           NOT NULL,
  color       text,
  position    double precision NOT NULL DEFAULT 0,
  revision    int            NOT NULL DEFAULT 1,
  -- Number of its last change in the owner's feed.
  seq         bigint         NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now(),
  -- Set when deleted: the row stays as the removal that the feed delivers.
  gone_at     timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, owner_id, seq)
);
CREATE INDEX note_folders_gone ON note_folders (gone_at) WHERE gone_at IS NOT NULL;
CREATE INDEX note_folders_children ON note_folders (tenant_id, owner_id, parent_id) WHERE gone_at IS NULL;
