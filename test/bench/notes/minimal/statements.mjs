// The statements of the minimal floor. `objects`: rows that JavaScript turns into JSON. `json`: PostgreSQL builds the text.

const COLUMNS =
  'n.id, n.title, n.content, n.revision, n.folder_id, n.labels, n.created_at, n.updated_at, n.deleted_at';

/** Open: the caller adds further members and closes it. */
const json = (row) =>
  `json_build_object('id', ${row}.id, 'title', ${row}.title, 'content', ${row}.content, 'revision', ${row}.revision,
     'folder_id', ${row}.folder_id, 'labels', ${row}.labels, 'created_at', ${row}.created_at,
     'updated_at', ${row}.updated_at, 'deleted_at', ${row}.deleted_at`;

const ROLE = `CASE WHEN n.owner_id = $2 THEN 'owner' ELSE a.role END`;
const READABLE = `FROM minimal.notes n
  LEFT JOIN minimal.note_access a ON a.tenant_id = n.tenant_id AND a.note_id = n.id AND a.user_id = $2
 WHERE n.tenant_id = $1 AND n.id = $3 AND (n.owner_id = $2 OR a.user_id IS NOT NULL)`;

const LIST = `SELECT * FROM (
  (SELECT ${COLUMNS}, 'owner' AS role FROM minimal.notes n
    WHERE tenant_id = $1 AND owner_id = $2 AND deleted_at IS NULL ORDER BY updated_at DESC, id DESC LIMIT 50)
  UNION ALL
  (SELECT ${COLUMNS}, a.role FROM minimal.note_access a
     JOIN minimal.notes n ON n.tenant_id = a.tenant_id AND n.id = a.note_id
    WHERE a.tenant_id = $1 AND a.user_id = $2 AND n.deleted_at IS NULL ORDER BY n.updated_at DESC, n.id DESC LIMIT 50)
  ) n ORDER BY updated_at DESC, id DESC LIMIT 50`;

const RECORD = (kind) => `revision_row AS (
    INSERT INTO minimal.note_revisions (tenant_id, note_id, revision, author_id, title, content)
    SELECT tenant_id, id, revision, $2, title, content FROM up),
  change_row AS (
    INSERT INTO minimal.changes (tenant_id, note_id, owner_id, kind, revision)
    SELECT tenant_id, id, owner_id, '${kind}', revision FROM up)`;

const UPDATE = `WITH up AS (
    UPDATE minimal.notes SET content = $5, revision = revision + 1, updated_at = now()
     WHERE tenant_id = $1 AND id = $3 AND revision = $4 AND owner_id = $2 AND deleted_at IS NULL RETURNING *),
  ${RECORD('u')}`;
const CREATE = `WITH up AS (
    INSERT INTO minimal.notes (tenant_id, id, owner_id, title, content, revision, labels, created_at, updated_at)
    VALUES ($1, $3, $2, $4, $5, 1, $6, now(), now()) RETURNING *),
  ${RECORD('c')}`;

const FEED = `SELECT c.xid, c.id, c.note_id, c.kind, c.revision FROM (
    SELECT * FROM minimal.changes
     WHERE tenant_id = $1 AND (xid, id) > ($3::text::xid8, $4::bigint)
       AND xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid, id LIMIT 500) c
  WHERE c.owner_id = $2
     OR EXISTS (SELECT 1 FROM minimal.note_access a WHERE a.tenant_id = $1 AND a.user_id = $2 AND a.note_id = c.note_id)
  ORDER BY xid, id`;

/** The position of a client that has all changes. */
const HEAD = `SELECT xid, id FROM minimal.changes WHERE tenant_id = $1 ORDER BY xid DESC, id DESC LIMIT 1`;

export const STATEMENTS = {
  objects: {
    read: `SELECT ${COLUMNS}, ${ROLE} AS role ${READABLE}`,
    list: LIST,
    update: `${UPDATE} SELECT ${COLUMNS} FROM up n`,
    create: `${CREATE} SELECT ${COLUMNS} FROM up n`,
    feed: FEED,
    head: HEAD,
  },
  json: {
    read: `SELECT n.revision, ${json('n')}, 'role', ${ROLE})::text AS json ${READABLE}`,
    list: `SELECT coalesce(string_agg(json, ','), '') AS json FROM (SELECT ${json('n')}, 'role', n.role)::text AS json FROM (${LIST}) n) page`,
    update: `${UPDATE} SELECT id, revision, ${json('up')})::text AS json FROM up`,
    create: `${CREATE} SELECT id, revision, ${json('up')})::text AS json FROM up`,
    feed: FEED,
    head: HEAD,
  },
};
