import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';

interface DueNote {
  tenant_id: string;
  id: string;
  /** The user who moved the note to the trash. */
  actor_id: string;
}

/**
 * Text of a statement that removes locked notes. The feed of each member keeps a removal, the ids are never used again, and stored
 * responses with the content are deleted. Counters are locked in the order of user ids for all notes at once: one note after another, a
 * later note could need a counter that precedes those already locked, while a concurrent writer holds it and waits for one of these.
 * @param tenant SQL of the workspace of a listed note @param notes SQL of a list of notes with `id`, `actor_id` and `event_id`
 */
const removal = (tenant: string, notes: string) =>
  `WITH removed AS MATERIALIZED (
     SELECT note.tenant_id, note.id, note.revision, note.updated_at, note.member_ids, listed.actor_id, listed.event_id
       FROM jsonb_to_recordset(${notes}) AS listed (tenant_id uuid, id uuid, actor_id uuid, event_id uuid)
       JOIN notes note ON note.tenant_id = ${tenant} AND note.id = listed.id),
   viewers AS MATERIALIZED (
     SELECT removed.tenant_id, removed.id AS note_id, removed.updated_at, viewer.user_id,
            row_number() OVER (PARTITION BY removed.tenant_id, viewer.user_id ORDER BY removed.id DESC) - 1 AS later
       FROM removed CROSS JOIN LATERAL unnest(removed.member_ids) AS viewer (user_id)),
   heads AS (
     INSERT INTO sync_heads AS known (tenant_id, user_id, head)
     SELECT tenant_id, user_id, count(*) FROM viewers GROUP BY tenant_id, user_id ORDER BY user_id, tenant_id
     ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = known.head + excluded.head
     RETURNING known.tenant_id, known.user_id, known.head),
   numbered AS (
     UPDATE note_members member SET
       role = NULL, folder_id = NULL, trashed = false, gone = 'purged', gone_at = clock_timestamp(), device_id = NULL,
       seq = heads.head - viewers.later, listed_at = viewers.updated_at
       FROM viewers
       JOIN heads ON heads.tenant_id = viewers.tenant_id AND heads.user_id = viewers.user_id
      WHERE member.tenant_id = viewers.tenant_id AND member.note_id = viewers.note_id AND member.user_id = viewers.user_id),
   deleted AS (
     DELETE FROM notes note USING removed WHERE note.tenant_id = removed.tenant_id AND note.id = removed.id),
   reserved AS (
     INSERT INTO purged_notes (tenant_id, note_id) SELECT tenant_id, id FROM removed),
   reported AS (
     INSERT INTO outbox (tenant_id, id, type, payload)
     SELECT tenant_id, event_id, 'note.purged', jsonb_build_object('note_id', id, 'revision', revision, 'actor_id', actor_id)
       FROM removed)
   SELECT forget_responses(tenant_id, id) FROM removed`;

const remove = workspace.statement<never>('notes.remove', removal('$1', '$2'));
const removeDue = workspace.statement<never>('notes.remove_due', removal('listed.tenant_id', '$1'), {
  reach: 'cell',
});

// Locked notes wait for the next run.
const lockDue = workspace.statement<DueNote>(
  'notes.lock_due',
  `SELECT tenant_id, id, deleted_by AS actor_id FROM notes WHERE purge_at <= now()
    ORDER BY purge_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
  { reach: 'cell' },
);

/** Removes notes permanently. */
@Injectable()
export class NoteRemovalRepository {
  /** Removes a locked note. */
  async remove(tx: Tx, { tenantId, userId }: RequestContext, id: string): Promise<void> {
    await tx.query(remove, [tenantId, listNotes([{ id, actor_id: userId }])]);
  }

  /** Removes up to `limit` notes whose time in the trash is over, oldest first. @returns their number */
  async removeDue(tx: Tx, limit: number): Promise<number> {
    const due = await tx.query(lockDue, [limit]);
    if (due.length > 0) await tx.query(removeDue, [listNotes(due)]);
    return due.length;
  }
}

const listNotes = (notes: readonly Omit<DueNote, 'tenant_id'>[]) =>
  JSON.stringify(notes.map((note) => ({ ...note, event_id: uuidv7() })));
