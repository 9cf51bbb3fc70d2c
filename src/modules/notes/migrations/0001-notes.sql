-- A note's head. Who may see it stands in the row itself (member_ids, member_roles), so that a writer who holds the row
-- reads the audience nowhere else (architecture, section 5). Roles: 3 owner, 2 editor, 1 viewer.
CREATE TABLE notes (
  tenant_id         uuid           NOT NULL,
  id                uuid           NOT NULL,
  owner_id          uuid           NOT NULL,
  title             text           NOT NULL,
  revision          int            NOT NULL,
  -- The revision whose row holds the current body: bodies are stored once.
  body_rev          int            NOT NULL,
  content_bytes     int            NOT NULL,
  labels            text[]         NOT NULL,
  links             jsonb          NOT NULL DEFAULT '[]',
  member_ids        uuid[]         NOT NULL,
  member_roles      smallint[]     NOT NULL,
  share_role        smallint,
  share_expires_at  timestamptz(3),
  share_created_at  timestamptz(3),
  -- Kept readable because its owner may look it up again; it opens one note, to members of its workspace only.
  share_token       text,
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  updated_by        uuid           NOT NULL,
  updated_device    text,
  deleted_at        timestamptz(3),
  deleted_by        uuid,
  purge_at          timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  CHECK (cardinality(member_ids) = cardinality(member_roles))
) WITH (fillfactor = 70);
CREATE INDEX notes_purge_due ON notes (purge_at) WHERE purge_at IS NOT NULL;

-- History, and the bodies. content is null where the revision changed something else: its body is that of body_rev.
CREATE TABLE note_revisions (
  tenant_id   uuid           NOT NULL,
  note_id     uuid           NOT NULL,
  revision    int            NOT NULL,
  body_rev    int            NOT NULL,
  -- How content is kept: 0 as it is.
  enc         smallint       NOT NULL DEFAULT 0,
  content     text,
  title       text           NOT NULL,
  labels      text[]         NOT NULL,
  author_id   uuid           NOT NULL,
  device_id   text,
  bytes       int            NOT NULL,
  created_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, note_id, revision),
  FOREIGN KEY (tenant_id, note_id) REFERENCES notes (tenant_id, id) ON DELETE CASCADE
);
-- lz4 reads and writes a body of a few kilobytes several times faster than the default; not every build has it.
DO $$ BEGIN
  ALTER TABLE note_revisions ALTER COLUMN content SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
  NULL;
END $$;

-- One row per person who sees, or saw, a note: their list, their placement and their change feed.
CREATE TABLE note_members (
  tenant_id  uuid           NOT NULL,
  note_id    uuid           NOT NULL,
  user_id    uuid           NOT NULL,
  -- Null: no longer sees it; the row stays as the removal that the feed delivers.
  role       smallint,
  folder_id  uuid,
  seq        bigint         NOT NULL,
  listed_at  timestamptz(3) NOT NULL,
  trashed    boolean        NOT NULL DEFAULT false,
  -- Since when this person has it.
  since      timestamptz(3) NOT NULL,
  -- Why it is gone: 1 unshared, 2 purged.
  gone       smallint,
  gone_at    timestamptz(3),
  PRIMARY KEY (tenant_id, note_id, user_id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX note_members_feed ON note_members (tenant_id, user_id, seq);
CREATE INDEX note_members_list ON note_members (tenant_id, user_id, listed_at DESC, note_id DESC)
  WHERE role IS NOT NULL AND NOT trashed;
CREATE INDEX note_members_gone ON note_members (gone_at) WHERE gone_at IS NOT NULL;
CREATE INDEX note_members_placed ON note_members (tenant_id, user_id, folder_id) WHERE folder_id IS NOT NULL;

-- Of one person's rows there are many, of one note's few: without knowing, the planner reads a person's whole feed to find
-- one note.
CREATE STATISTICS note_members_people (dependencies, ndistinct) ON tenant_id, user_id FROM note_members;
CREATE STATISTICS note_members_notes (dependencies, ndistinct) ON tenant_id, note_id FROM note_members;
