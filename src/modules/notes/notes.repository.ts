import { Injectable } from '@nestjs/common';
import { fitsPage, PAGE_BYTES } from '../../platform/bounded-pages/page-bytes.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader } from '../../platform/database/tx.js';
import { unpackBody } from './history/revision-pack.js';
import type { NoteRevisionPack, NoteRole } from './notes.schema.js';

/** SQL over the row `item` of a note: about the bytes of the note without its content, from the parts that may be long. */
export const NOTE_SUMMARY_BYTES = `2048 + 256 * cardinality(item.member_ids) + 128 * cardinality(item.labels)
  + CASE WHEN item.links = '[]' THEN 0 ELSE 4 * octet_length(item.links::text) END`;

/** A note as a user sees it. */
export interface NoteRead {
  revision: number;
  role: NoteRole;
  note: string;
}

export interface RevisionRow {
  /** Null where the caller can read the note but it has no (further) revision. */
  revision: number | null;
  json: string | null;
}

const read = workspace.statement<NoteRead>(
  'notes.read',
  `SELECT revision, role, note FROM note_views WHERE tenant_id = $1 AND user_id = $2 AND note_id = $3`,
  { pipelined: true },
);

const readMany = workspace.statement<{ id: string; note: string }>(
  'notes.read_many',
  `SELECT note_id AS id, note FROM note_views WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3::uuid[])`,
);

// A share token gives the member's own view, unless the link gives a higher role.
const readWithLink = workspace.statement<NoteRead>(
  'notes.read_with_link',
  `SELECT revision, role, note FROM (
     SELECT revision, role, note, 1 AS own FROM note_views
      WHERE tenant_id = $1 AND user_id = $2 AND note_id = $3
     UNION ALL
     SELECT revision, role, note, 0 FROM shared_note_views
      WHERE tenant_id = $1 AND note_id = $3 AND share_token = $4
        AND (share_expires_at IS NULL OR share_expires_at > clock_timestamp())) AS readable
    ORDER BY role DESC, own DESC LIMIT 1`,
);

const REVISIONS = `
  FROM note_revisions entry
  LEFT JOIN note_revisions previous ON previous.tenant_id = entry.tenant_id AND previous.note_id = entry.note_id
                                   AND previous.revision = entry.revision - 1
  LEFT JOIN member_profiles author ON author.tenant_id = entry.tenant_id AND author.user_id = entry.author_id`;

// JSON of a revision without its content. A new versioned field is added here (docs/add-a-field.md).
const SUMMARY = `json_build_object(
    'revision', entry.revision,
    'title', entry.title,
    'labels', entry.labels,
    'author', json_build_object('id', entry.author_id, 'name', author.display_name),
    'device_id', entry.device_id,
    'size', entry.bytes,
    'created_at', rfc3339(entry.created_at),
    'changed', array_remove(ARRAY[
      CASE WHEN previous.title IS DISTINCT FROM entry.title THEN 'title' END,
      CASE WHEN entry.body_rev = entry.revision THEN 'content' END,
      CASE WHEN previous.labels IS DISTINCT FROM entry.labels THEN 'labels' END], NULL))::text`;

// A viewer reads the revision that was current at the invitation and later ones. Text that was removed before is not shared. OFFSET 0
// keeps the planner from repeating the search for each revision.
const READER = `
  FROM note_members member
  CROSS JOIN LATERAL (
    SELECT CASE WHEN member.role = 'viewer' THEN (
             SELECT known.revision FROM note_revisions known
              WHERE known.tenant_id = $1 AND known.note_id = $3 AND known.created_at <= member.since
              ORDER BY known.revision DESC LIMIT 1) END AS revision OFFSET 0) shared`;
const IS_SHARED = '(shared.revision IS NULL OR entry.revision >= shared.revision)';

// One row without revision where the caller can read the note and the page is empty; no row where they cannot read it.
const listRevisions = workspace.statement<RevisionRow & { fits: boolean }>(
  'notes.list_revisions',
  `SELECT listed.revision, listed.fits, shown.json ${READER} LEFT JOIN LATERAL (
     SELECT sized.revision, ${fitsPage('sized.bytes', '$5', '$6')} AS fits FROM (
       SELECT entry.revision, 1024 + octet_length(entry.title) + octet_length(entry.labels::text) AS bytes
         FROM note_revisions entry
        WHERE entry.tenant_id = $1 AND entry.note_id = $3 AND entry.revision < $4 AND ${IS_SHARED}
        ORDER BY entry.revision DESC LIMIT $5) sized
     WINDOW page_order AS (ORDER BY sized.revision DESC ROWS UNBOUNDED PRECEDING)) listed ON true
   LEFT JOIN LATERAL (
     SELECT ${SUMMARY} AS json ${REVISIONS}
      WHERE listed.fits AND entry.tenant_id = $1 AND entry.note_id = $3 AND entry.revision = listed.revision OFFSET 0) shown ON true
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.note_id = $3 AND member.role IS NOT NULL
    ORDER BY listed.revision DESC`,
  { onReplica: true },
);

// The bodies of old revisions are packed: the row then has the pack, the place of the body in it (from 1), and the JSON
// without the content.
const readRevision = workspace.statement<
  RevisionRow & { pack: NoteRevisionPack['bodies'] | null; place: number }
>(
  'notes.read_revision',
  `SELECT found.revision, found.pack, found.place,
          CASE WHEN found.pack IS NULL THEN left(found.json, -1) || ',"content":' || to_json(found.content)::text || '}' ELSE found.json END AS json
     ${READER} LEFT JOIN LATERAL (
     SELECT entry.revision, body.content, pack.bodies AS pack, array_position(pack.revisions, body.revision) AS place,
            ${SUMMARY} AS json ${REVISIONS}
       JOIN note_revisions body ON body.tenant_id = entry.tenant_id AND body.note_id = entry.note_id
                               AND body.revision = entry.body_rev
       LEFT JOIN LATERAL (
         SELECT bodies, revisions FROM note_revision_packs
          WHERE tenant_id = body.tenant_id AND note_id = body.note_id AND first_revision <= body.revision
          ORDER BY first_revision DESC LIMIT 1) pack ON body.enc = 1
      WHERE entry.tenant_id = $1 AND entry.note_id = $3 AND entry.revision = $4 AND ${IS_SHARED}) found ON true
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.note_id = $3 AND member.role IS NOT NULL`,
);

/** SQL on single notes and their revisions; `note-lists.service.ts` has the lists. */
@Injectable()
export class NotesRepository {
  constructor(private readonly db: Db) {}

  /**
   * The note as the caller sees it; null where they cannot read it.
   * @param link token of a share link, which may give a higher role than the caller's membership
   */
  async read(
    ctx: RequestContext,
    id: string,
    link?: string,
    reader: Reader = this.db,
  ): Promise<NoteRead | null> {
    const values = [ctx.tenantId, ctx.userId, id];
    const rows =
      link === undefined
        ? await reader.query(read, values)
        : await reader.query(readWithLink, [...values, link]);
    return rows[0] ?? null;
  }

  /** JSON of the notes that the caller can read, by id. */
  async readMany({ tenantId, userId }: RequestContext, ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.db.query(readMany, [tenantId, userId, [...new Set(ids)]]);
    return new Map(rows.map(({ id, note }) => [id, note]));
  }

  /** Revisions below `before`, newest first, those beyond the bytes of the page without content; null where the caller cannot read the note. */
  async listRevisions(
    ctx: RequestContext,
    id: string,
    before: number,
    limit: number,
  ): Promise<(RevisionRow & { fits: boolean })[] | null> {
    const values = [ctx.tenantId, ctx.userId, id, before, limit, PAGE_BYTES];
    const rows = await this.db.query(listRevisions, values);
    return rows.length === 0 ? null : rows.filter((row) => row.revision !== null);
  }

  /** Null where the caller cannot read the note; a row without revision where the note has no such revision. */
  async readRevision(ctx: RequestContext, id: string, revision: number): Promise<RevisionRow | null> {
    const [row] = await this.db.query(readRevision, [ctx.tenantId, ctx.userId, id, revision]);
    if (!row?.pack || row.json === null) return row ?? null;
    const content = await unpackBody(row.pack, row.place - 1);
    return { revision: row.revision, json: `${row.json.slice(0, -1)},"content":${JSON.stringify(content)}}` };
  }
}
