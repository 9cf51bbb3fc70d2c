-- Bodies of old revisions, compressed together (adr/0050). Their rows in note_revisions have no content and enc = 1.
CREATE TABLE note_revision_packs (
  tenant_id      uuid  NOT NULL,
  note_id        uuid  NOT NULL,
  first_revision int   NOT NULL,
  -- The revisions of the bodies, in their order.
  revisions      int[] NOT NULL,
  bodies         bytea NOT NULL,
  PRIMARY KEY (tenant_id, note_id, first_revision),
  FOREIGN KEY (tenant_id, note_id) REFERENCES notes (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE note_revision_packs ALTER COLUMN bodies SET STORAGE EXTERNAL;

-- Notes with bodies to pack.
CREATE TABLE note_history_due (
  tenant_id uuid NOT NULL,
  note_id   uuid NOT NULL,
  PRIMARY KEY (tenant_id, note_id),
  FOREIGN KEY (tenant_id, note_id) REFERENCES notes (tenant_id, id) ON DELETE CASCADE
);
INSERT INTO note_history_due SELECT tenant_id, id FROM notes WHERE revision >= 100;
