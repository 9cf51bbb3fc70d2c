import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { errorCode } from '../../platform/database/database-errors.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';

/** What a write of a note came to; `json` is the note, or the extra members of the error. */
export interface NoteOutcome {
  outcome:
    | 'ok'
    | 'not_found'
    | 'forbidden'
    | 'deleted'
    | 'unchecked'
    | 'conflict'
    | 'no_changes'
    | 'unknown_folder'
    | 'already_exists'
    | 'not_in_trash'
    | 'not_shared'
    | 'too_many_links';
  revision: number | null;
  json: string | null;
}

export interface NoteRead {
  revision: number;
  role_name: 'owner' | 'editor' | 'viewer';
  note: string;
}

export interface RevisionRow {
  /** Null where the note can be read but has no (further) revisions. */
  revision: number | null;
  json: string | null;
}

/** The changes of an update; a field left undefined stays as it is. */
export interface NotePatch {
  title?: string;
  content?: string;
  labels?: string[];
  folder_id?: string | null;
  device_id?: string;
}

export interface NewNote extends NotePatch {
  id: string;
}

const read = workspace.statement<NoteRead>(
  'notes.read',
  `SELECT revision, role_name, note FROM note_views WHERE tenant_id = $1 AND user_id = $2 AND note_id = $3`,
);

// With a link: the member's own view, unless the link allows more.
const readWithLink = workspace.statement<NoteRead>(
  'notes.read_with_link',
  `SELECT revision, role_name, note FROM (
     SELECT revision, role, role_name, note, 1 AS own FROM note_views
      WHERE tenant_id = $1 AND user_id = $2 AND note_id = $3
     UNION ALL
     SELECT revision, role, role_name, note, 0 FROM shared_note_views
      WHERE tenant_id = $1 AND note_id = $3 AND share_token = $4
        AND (share_expires_at IS NULL OR share_expires_at > clock_timestamp())) v
    ORDER BY role DESC, own DESC LIMIT 1`,
);

const OUTCOME = 'outcome, revision, json';

const create = workspace.statement<NoteOutcome>(
  'notes.create',
  `SELECT ${OUTCOME} FROM note_create($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

const update = workspace.statement<NoteOutcome>(
  'notes.update',
  `SELECT ${OUTCOME} FROM note_update($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
);

const trash = workspace.statement<NoteOutcome>(
  'notes.trash',
  `SELECT ${OUTCOME} FROM note_trash($1, $2, $3, $4, $5, $6)`,
);

const restore = workspace.statement<NoteOutcome>(
  'notes.restore',
  `SELECT ${OUTCOME} FROM note_restore($1, $2, $3, $4, $5)`,
);

const purge = workspace.statement<NoteOutcome>(
  'notes.purge',
  `SELECT ${OUTCOME} FROM note_purge($1, $2, $3, $4)`,
);

const REVISION_JSON = `json_build_object(
    'revision', r.revision, 'title', r.title, 'labels', r.labels,
    'author', json_build_object('id', r.author_id, 'name', a.display_name),
    'device_id', r.device_id, 'size', r.bytes, 'created_at', rfc3339(r.created_at),
    'changed', array_remove(ARRAY[
      CASE WHEN p.title IS DISTINCT FROM r.title THEN 'title' END,
      CASE WHEN r.body_rev = r.revision THEN 'content' END,
      CASE WHEN p.labels IS DISTINCT FROM r.labels THEN 'labels' END], NULL))`;

const REVISION_JOINS = `
    LEFT JOIN note_revisions p ON p.tenant_id = r.tenant_id AND p.note_id = r.note_id AND p.revision = r.revision - 1
    LEFT JOIN tenant_members a ON a.tenant_id = r.tenant_id AND a.user_id = r.author_id`;

// One row without revision when the caller may read the note but the page is empty; no row when they may not.
const listRevisions = workspace.statement<RevisionRow>(
  'notes.list_revisions',
  `SELECT v.revision, v.json::text AS json FROM note_members m LEFT JOIN LATERAL (
     SELECT r.revision, ${REVISION_JSON} AS json FROM note_revisions r ${REVISION_JOINS}
      WHERE r.tenant_id = $1 AND r.note_id = $3 AND r.revision < $4 ORDER BY r.revision DESC LIMIT $5) v ON true
    WHERE m.tenant_id = $1 AND m.user_id = $2 AND m.note_id = $3 AND m.role IS NOT NULL
    ORDER BY v.revision DESC`,
);

const readRevision = workspace.statement<RevisionRow>(
  'notes.read_revision',
  `SELECT v.revision, left(v.json::text, -1) || ', "content" : ' || to_json(v.content)::text || '}' AS json
     FROM note_members m LEFT JOIN LATERAL (
       SELECT r.revision, b.content, ${REVISION_JSON} AS json FROM note_revisions r ${REVISION_JOINS}
         JOIN note_revisions b ON b.tenant_id = r.tenant_id AND b.note_id = r.note_id AND b.revision = r.body_rev
        WHERE r.tenant_id = $1 AND r.note_id = $3 AND r.revision = $4) v ON true
    WHERE m.tenant_id = $1 AND m.user_id = $2 AND m.note_id = $3 AND m.role IS NOT NULL`,
);

/** All SQL on single notes and their revisions; lists stand in `note-list.repository.ts`. */
@Injectable()
export class NotesRepository {
  constructor(private readonly db: Db) {}

  /**
   * The note as the caller sees it; null when they do not.
   * @param link token of a share link, which may allow more than the caller's membership
   */
  async read(ctx: RequestContext, id: string, link?: string): Promise<NoteRead | null> {
    const values = [ctx.tenantId, ctx.userId, id];
    const rows =
      link === undefined
        ? await this.db.query(read, values)
        : await this.db.query(readWithLink, [...values, link]);
    return rows[0] ?? null;
  }

  async create(tx: Tx, ctx: RequestContext, event: string, note: NewNote): Promise<NoteOutcome> {
    const { id, title = '', content = '', labels = [], folder_id = null, device_id = null } = note;
    return orUnknownFolder(
      tx.query(create, [ctx.tenantId, ctx.userId, id, title, content, labels, folder_id, device_id, event]),
    );
  }

  /** @param base null when the request is wrong in itself: outcome `unchecked` unless something comes before that */
  async update(
    tx: Tx,
    ctx: RequestContext,
    event: string,
    id: string,
    base: number | null,
    patch: NotePatch,
    link?: string,
  ): Promise<NoteOutcome> {
    const { title = null, content = null, labels = null, folder_id, device_id = null } = patch;
    const placement = [folder_id !== undefined, folder_id ?? null];
    const values = [
      ctx.tenantId,
      ctx.userId,
      id,
      base,
      title,
      content,
      labels,
      ...placement,
      device_id,
      event,
      link ?? null,
    ];
    return orUnknownFolder(tx.query(update, values));
  }

  /** @param keepDays days until it may be purged by itself; 0: never */
  async trash(
    tx: Tx,
    ctx: RequestContext,
    event: string,
    id: string,
    base: number | null,
    keepDays: number,
  ): Promise<NoteOutcome> {
    return one(await tx.query(trash, [ctx.tenantId, ctx.userId, id, base, keepDays, event]));
  }

  async restore(
    tx: Tx,
    ctx: RequestContext,
    event: string,
    id: string,
    device: string | undefined,
  ): Promise<NoteOutcome> {
    return one(await tx.query(restore, [ctx.tenantId, ctx.userId, id, device ?? null, event]));
  }

  async purge(tx: Tx, ctx: RequestContext, event: string, id: string): Promise<NoteOutcome> {
    return one(await tx.query(purge, [ctx.tenantId, ctx.userId, id, event]));
  }

  /** Newest first, those below `before`; null when the caller may not read the note. */
  async listRevisions(
    ctx: RequestContext,
    id: string,
    before: number,
    limit: number,
  ): Promise<RevisionRow[] | null> {
    const rows = await this.db.query(listRevisions, [ctx.tenantId, ctx.userId, id, before, limit]);
    return rows.length === 0 ? null : rows.filter((row) => row.revision !== null);
  }

  /** Null when the caller may not read the note; a row without revision when the note has no such one. */
  async readRevision(ctx: RequestContext, id: string, revision: number): Promise<RevisionRow | null> {
    return (await this.db.query(readRevision, [ctx.tenantId, ctx.userId, id, revision]))[0] ?? null;
  }
}

/** The folder was deleted while the write waited for it: the functions raise WS001 and nothing is written. */
async function orUnknownFolder(query: Promise<NoteOutcome[]>): Promise<NoteOutcome> {
  try {
    return one(await query);
  } catch (error) {
    if (errorCode(error) !== 'WS001') throw error;
    return { outcome: 'unknown_folder', revision: null, json: null };
  }
}

function one<Row>(rows: Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('a function that returns one row returned none');
  return row;
}
