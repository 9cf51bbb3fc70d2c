import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import type { LockedNote, NoteChange, NoteRow } from '../model/note-rules.js';

/** A decided write of a locked note. */
export interface NoteStore {
  note: NoteRow;
  change: NoteChange;
  /** The client device that writes. */
  device?: string | undefined;
}

// The time is rounded as columns are: it is compared with times that are.
const COLUMNS = `note.id, note.owner_id, note.title, note.labels, note.revision, note.body_rev, note.links, note.member_ids,
          note.member_roles::text[] AS member_roles, note.share_role, note.share_expires_at, note.share_created_at, note.share_token,
          note.updated_at, note.updated_by, note.deleted_at, note.deleted_by, note.purge_at, clock_timestamp()::timestamptz(3) AS now`;

const lock = workspace.statement<LockedNote>(
  'notes.lock',
  `SELECT ${COLUMNS} FROM notes note WHERE note.tenant_id = $1 AND note.id = ANY ($2::uuid[]) ORDER BY note.id FOR UPDATE`,
);

// Index notes_by_title or notes_by_creation.
const owned = workspace.statement<LockedNote>(
  'notes.owned',
  `SELECT ${COLUMNS} FROM notes note WHERE note.tenant_id = $1 AND note.owner_id = $2 ORDER BY note.id LIMIT $3 FOR UPDATE`,
);

const content = workspace.statement<{ content: string }>(
  'notes.content',
  `SELECT content FROM note_revisions WHERE tenant_id = $1 AND note_id = $2 AND revision = $3`,
);

// Feed counters are locked in the order of user ids, rows of members after them. Each user gets one number for each note. Who did not
// see a note before sees it from now on, outside of folders.
const store = workspace.statement<never>(
  'notes.store',
  `WITH changes AS MATERIALIZED (
     SELECT change.id, change.columns, change.viewers, change.device, change.event
       FROM jsonb_to_recordset($2) AS change (id uuid, columns jsonb, viewers jsonb, device text, event jsonb)),
   stored AS (
     UPDATE notes note SET
       owner_id = written.owner_id, links = written.links, member_ids = written.member_ids, member_roles = written.member_roles,
       share_role = written.share_role, share_expires_at = written.share_expires_at, share_created_at = written.share_created_at,
       share_token = written.share_token, deleted_at = written.deleted_at, deleted_by = written.deleted_by, purge_at = written.purge_at
       FROM changes
       JOIN notes old ON old.tenant_id = $1 AND old.id = changes.id
       CROSS JOIN LATERAL jsonb_populate_record(old, changes.columns) written
      WHERE note.tenant_id = $1 AND note.id = changes.id
     RETURNING note.id, note.updated_at, note.deleted_at),
   viewers AS MATERIALIZED (
     SELECT changes.id AS note_id, changes.device, viewer.user_id, viewer.role, viewer.gone,
            row_number() OVER (PARTITION BY viewer.user_id ORDER BY changes.id DESC) - 1 AS later
       FROM changes
       CROSS JOIN LATERAL jsonb_to_recordset(changes.viewers) AS viewer (user_id uuid, role note_role, gone note_removal)),
   heads AS (
     INSERT INTO sync_heads AS known (tenant_id, user_id, head)
     SELECT $1, user_id, count(*) FROM viewers GROUP BY user_id ORDER BY user_id
     ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = known.head + excluded.head
     RETURNING known.user_id, known.head),
   numbered AS (
     INSERT INTO note_members AS known (
       tenant_id, note_id, user_id, role, seq, listed_at, trashed, since, gone, gone_at, device_id)
     SELECT $1, viewers.note_id, viewers.user_id, viewers.role, heads.head - viewers.later, stored.updated_at,
            stored.deleted_at IS NOT NULL AND viewers.role IS NOT NULL, clock_timestamp(), viewers.gone,
            CASE WHEN viewers.role IS NULL THEN clock_timestamp() END, viewers.device
       FROM viewers
       JOIN heads ON heads.user_id = viewers.user_id
       JOIN stored ON stored.id = viewers.note_id
     ON CONFLICT (tenant_id, note_id, user_id) DO UPDATE SET
       role = excluded.role, seq = excluded.seq, gone = excluded.gone, gone_at = excluded.gone_at, device_id = excluded.device_id,
       folder_id = CASE WHEN excluded.role IS NULL OR known.role IS NULL THEN NULL ELSE known.folder_id END,
       listed_at = excluded.listed_at, trashed = excluded.trashed,
       since = CASE WHEN known.role IS NULL THEN excluded.since ELSE known.since END)
   INSERT INTO outbox (tenant_id, id, type, payload)
   SELECT $1, (event->>'id')::uuid, event->>'type', event->'payload' FROM changes WHERE event IS NOT NULL`,
);

/** The rows that writes of notes lock, read and store. */
@Injectable()
export class NoteRowsRepository {
  /** Locks notes until the end of the transaction, in the order of their ids. @returns those that exist */
  async lock(tx: Tx, tenantId: string, ids: readonly string[]): Promise<LockedNote[]> {
    return tx.query(lock, [tenantId, ids]);
  }

  /** Locks up to `limit` notes of an owner. */
  async lockOwned(tx: Tx, tenantId: string, owner: string, limit: number): Promise<LockedNote[]> {
    return tx.query(owned, [tenantId, owner, limit]);
  }

  async content(reader: Reader, tenantId: string, { id, body_rev }: NoteRow): Promise<string> {
    return (await reader.query(content, [tenantId, id, body_rev]))[0]!.content;
  }

  /** Stores the changes of locked notes, with feed numbers and events. */
  async store(tx: Tx, { tenantId, userId }: RequestContext, stores: readonly NoteStore[]): Promise<void> {
    if (stores.length === 0) return;
    const changes = stores.map(({ note, change: { columns, viewers, event }, device }) => ({
      id: note.id,
      columns,
      viewers,
      device,
      event: event && {
        id: uuidv7(),
        type: event.type,
        payload: { note_id: note.id, revision: note.revision, actor_id: userId, ...event.data },
      },
    }));
    await tx.query(store, [tenantId, JSON.stringify(changes)]);
  }
}
