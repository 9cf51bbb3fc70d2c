-- Trees of folders. All folders of a tree have one owner. The members of a folder, and of the folders above it, see it;
-- task_folder_members holds the result.
CREATE TABLE task_folders (
  tenant_id     uuid             NOT NULL,
  id            uuid             NOT NULL,
  owner_id      uuid             NOT NULL,
  parent_id     uuid,
  name          text             NOT NULL,
  color         text,
  position      double precision NOT NULL,
  -- Whom the owner shares this folder with, in the order given. Roles: 2 editor, 1 viewer.
  member_ids    uuid[]           NOT NULL DEFAULT '{}',
  member_roles  smallint[]       NOT NULL DEFAULT '{}',
  revision      int              NOT NULL DEFAULT 1,
  created_at    timestamptz(3)   NOT NULL,
  updated_at    timestamptz(3)   NOT NULL,
  -- Set when deleted: the row stays until its removals have been forgotten.
  gone_at       timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  CHECK (cardinality(member_ids) = cardinality(member_roles))
);
CREATE INDEX task_folders_children ON task_folders (tenant_id, owner_id, parent_id) WHERE gone_at IS NULL;
CREATE INDEX task_folders_gone ON task_folders (gone_at) WHERE gone_at IS NOT NULL;

-- One row per user who sees, or saw, a folder: its owner, its members and those of the folders above it.
CREATE TABLE task_folder_members (
  tenant_id  uuid        NOT NULL,
  folder_id  uuid        NOT NULL,
  user_id    uuid        NOT NULL,
  -- 3 owner, 2 editor, 1 viewer; null: no longer sees it, the row stays as the removal that the feed delivers.
  role       smallint,
  seq        bigint      NOT NULL,
  -- Why it is gone: 1 unshared, 2 deleted.
  gone       smallint,
  gone_at    timestamptz(3),
  PRIMARY KEY (tenant_id, folder_id, user_id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX task_folder_members_feed ON task_folder_members (tenant_id, user_id, seq);
CREATE INDEX task_folder_members_gone ON task_folder_members (gone_at) WHERE gone_at IS NOT NULL;

-- A task. Status: 0 open, 1 in progress, 2 done, 3 cancelled. Priority: 0 none, 1 low, 2 normal, 3 medium, 4 high,
-- 5 urgent, 6 critical.
CREATE TABLE tasks (
  tenant_id          uuid           NOT NULL,
  id                 uuid           NOT NULL,
  creator_id         uuid           NOT NULL,
  folder_id          uuid,
  title              text           NOT NULL,
  description        text,
  status             smallint       NOT NULL,
  priority           smallint       NOT NULL,
  group_name         text,
  labels             text[]         NOT NULL,
  assignee_ids       uuid[]         NOT NULL,
  -- The calendar day it is due on in its time zone; with an hour, due_at is that moment and date its day.
  date               date,
  due_at             timestamptz(3),
  time_zone          text           NOT NULL,
  -- When it is overdue: due_at, or the end of its day.
  overdue_at         timestamptz(3),
  -- {"rrule", "from", "start", "scheduled"}: see StoredRecurrence.
  recurrence         jsonb,
  -- The task made when this one was completed.
  next_task_id       uuid,
  reminders          jsonb          NOT NULL,
  -- The next moments at which an event is due: a reminder; the due date (stage 1) or having passed it (stage 2).
  next_reminder_at   timestamptz(3),
  next_due_at        timestamptz(3),
  due_stage          smallint       NOT NULL,
  -- References: [{"type", "id", "title", "url"}].
  refs               jsonb          NOT NULL,
  -- Notes that hold a link back to this task.
  linked_notes       uuid[]         NOT NULL DEFAULT '{}',
  attachments        jsonb          NOT NULL DEFAULT '[]',
  subtasks_count     int            NOT NULL DEFAULT 0,
  comments_count     int            NOT NULL DEFAULT 0,
  activity_count     int            NOT NULL DEFAULT 0,
  -- Manual order: a key of the fractional-indexing library, compared as bytes.
  position           text COLLATE "C" NOT NULL,
  revision           int            NOT NULL,
  completed_at       timestamptz(3),
  created_at         timestamptz(3) NOT NULL,
  updated_at         timestamptz(3) NOT NULL,
  updated_by         uuid           NOT NULL,
  deleted_at         timestamptz(3),
  deleted_by         uuid,
  purge_at           timestamptz(3),
  PRIMARY KEY (tenant_id, id)
) WITH (fillfactor = 70);
CREATE INDEX tasks_folder ON tasks (tenant_id, folder_id) WHERE folder_id IS NOT NULL;
CREATE INDEX tasks_purge_due ON tasks (purge_at) WHERE purge_at IS NOT NULL;
CREATE INDEX tasks_reminder_due ON tasks (next_reminder_at) WHERE next_reminder_at IS NOT NULL;
CREATE INDEX tasks_due ON tasks (next_due_at) WHERE next_due_at IS NOT NULL;

-- One row per user who sees, or saw, a task: lists and change feeds. Written only under the lock of the task row: a
-- transaction that holds it may read the audience here. The columns after gone_at are copies of the task that lists sort and
-- filter by, so that a page comes from one index.
CREATE TABLE task_members (
  tenant_id  uuid           NOT NULL,
  task_id    uuid           NOT NULL,
  user_id    uuid           NOT NULL,
  -- 3 creator, 2 may write (assignee, editor of its folder), 1 may read; null: no longer sees it.
  role       smallint,
  -- The task's folder where this person sees the folder.
  folder_id  uuid,
  seq        bigint         NOT NULL,
  -- Why it is gone: 1 unshared, 2 purged.
  gone       smallint,
  gone_at    timestamptz(3),
  listed_at  timestamptz(3) NOT NULL,
  position   text COLLATE "C" NOT NULL,
  -- The due day; infinity without one, so that such tasks come last.
  due_on     date           NOT NULL,
  open       boolean        NOT NULL,
  assigned   boolean        NOT NULL,
  trashed    boolean        NOT NULL,
  PRIMARY KEY (tenant_id, task_id, user_id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX task_members_feed ON task_members (tenant_id, user_id, seq);
CREATE INDEX task_members_list ON task_members (tenant_id, user_id, listed_at DESC, task_id DESC)
  WHERE role IS NOT NULL AND NOT trashed;
CREATE INDEX task_members_board ON task_members (tenant_id, user_id, folder_id, position, task_id)
  WHERE role IS NOT NULL AND NOT trashed;
CREATE INDEX task_members_agenda ON task_members (tenant_id, user_id, due_on, task_id)
  WHERE role IS NOT NULL AND NOT trashed AND open;
CREATE INDEX task_members_gone ON task_members (gone_at) WHERE gone_at IS NOT NULL;

-- Of one person's rows there are many, of one task's few (as for note_members).
CREATE STATISTICS task_members_people (dependencies, ndistinct) ON tenant_id, user_id FROM task_members;
CREATE STATISTICS task_members_tasks (dependencies, ndistinct) ON tenant_id, task_id FROM task_members;

CREATE TABLE subtasks (
  tenant_id    uuid           NOT NULL,
  task_id      uuid           NOT NULL,
  id           uuid           NOT NULL,
  title        text           NOT NULL,
  done         boolean        NOT NULL,
  assignee_id  uuid,
  date         date,
  position     text COLLATE "C" NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  updated_at   timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, task_id, id),
  FOREIGN KEY (tenant_id, task_id) REFERENCES tasks (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE task_comments (
  tenant_id   uuid           NOT NULL,
  task_id     uuid           NOT NULL,
  id          uuid           NOT NULL,
  author_id   uuid           NOT NULL,
  body        text           NOT NULL,
  created_at  timestamptz(3) NOT NULL,
  edited_at   timestamptz(3),
  PRIMARY KEY (tenant_id, task_id, id),
  FOREIGN KEY (tenant_id, task_id) REFERENCES tasks (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX task_comments_newest ON task_comments (tenant_id, task_id, created_at DESC, id DESC);

-- History of a task, numbered within the task; only the newest entries are kept.
CREATE TABLE task_activity (
  tenant_id  uuid           NOT NULL,
  task_id    uuid           NOT NULL,
  n          int            NOT NULL,
  type       text           NOT NULL,
  -- Null: the service itself.
  actor_id   uuid,
  data       jsonb          NOT NULL,
  at         timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, task_id, n),
  FOREIGN KEY (tenant_id, task_id) REFERENCES tasks (tenant_id, id) ON DELETE CASCADE
);
