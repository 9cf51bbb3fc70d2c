-- The minimal tables for notes with owners, sharing, revisions and a list of changes, filled with the application's notes.
DROP SCHEMA IF EXISTS minimal CASCADE;
CREATE SCHEMA minimal;

CREATE TABLE minimal.notes (
  tenant_id uuid NOT NULL, id uuid NOT NULL, owner_id uuid NOT NULL, folder_id uuid,
  title text NOT NULL, content text NOT NULL, revision int NOT NULL DEFAULT 1, labels text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL, deleted_at timestamptz);
CREATE TABLE minimal.note_access (
  tenant_id uuid NOT NULL, user_id uuid NOT NULL, note_id uuid NOT NULL, role text NOT NULL);
CREATE TABLE minimal.note_revisions (
  tenant_id uuid NOT NULL, note_id uuid NOT NULL, revision int NOT NULL, author_id uuid NOT NULL,
  title text NOT NULL, content text NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE minimal.changes (
  tenant_id uuid NOT NULL, xid xid8 NOT NULL DEFAULT pg_current_xact_id(), id bigserial NOT NULL,
  note_id uuid NOT NULL, owner_id uuid NOT NULL, kind "char" NOT NULL, revision int NOT NULL);

INSERT INTO minimal.notes
SELECT note.tenant_id, note.id, note.owner_id, NULL, note.title, body.content, note.revision, note.labels,
       note.created_at, note.updated_at, note.deleted_at
  FROM notes note
  JOIN note_revisions body ON body.tenant_id = note.tenant_id AND body.note_id = note.id AND body.revision = note.body_rev;
INSERT INTO minimal.note_revisions
SELECT tenant_id, id, revision, owner_id, title, content, created_at FROM minimal.notes;
INSERT INTO minimal.changes (tenant_id, note_id, owner_id, kind, revision)
SELECT tenant_id, id, owner_id, 'u', revision FROM minimal.notes;

ALTER TABLE minimal.notes ADD PRIMARY KEY (tenant_id, id);
CREATE INDEX ON minimal.notes (tenant_id, owner_id, updated_at DESC, id DESC) WHERE deleted_at IS NULL;
ALTER TABLE minimal.note_access ADD PRIMARY KEY (tenant_id, user_id, note_id);
CREATE INDEX ON minimal.note_access (tenant_id, note_id);
ALTER TABLE minimal.note_revisions ADD PRIMARY KEY (tenant_id, note_id, revision);
ALTER TABLE minimal.changes ADD PRIMARY KEY (tenant_id, xid, id);
