import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import type { LinkedTaskChange } from '../../tasks/index.js';
import type { NoteOutcome } from '../notes.repository.js';

/** Most tasks that a note links to. */
const MAX_LINKS = 500;

const OUTCOME = 'outcome, revision, json';

const open = workspace.statement<NoteOutcome>(
  'notes.open_for_task',
  `SELECT ${OUTCOME} FROM note_open_for_task($1, $2, $3, $4, $5, $6, $7)`,
);

const link = workspace.statement<NoteOutcome>(
  'notes.link_task',
  `SELECT ${OUTCOME} FROM note_link_task($1, $2, $3, $4)`,
);

const change = workspace.statement<never>('notes.links_change', `SELECT note_links_change($1, $2, $3)`);

// Index note_members_pkey, note by note.
const titles = workspace.statement<{ id: string; title: string }>(
  'notes.titles',
  `SELECT note.id, note.title FROM unnest($3::uuid[]) AS wanted (id)
     JOIN note_members member ON member.tenant_id = $1 AND member.note_id = wanted.id AND member.user_id = $2
                             AND member.role IS NOT NULL
     JOIN notes note ON note.tenant_id = $1 AND note.id = wanted.id`,
);

const linkable = workspace.statement<{ id: string }>(
  'notes.linkable',
  `SELECT note.id FROM unnest($3::uuid[]) AS wanted (id)
     JOIN note_members member ON member.tenant_id = $1 AND member.note_id = wanted.id AND member.user_id = $2
                             AND member.role >= 'editor'
     JOIN notes note ON note.tenant_id = $1 AND note.id = wanted.id
    WHERE jsonb_array_length(note.links) < $4`,
);

/** All SQL on the links between notes and tasks. */
@Injectable()
export class NotesTasksRepository {
  /**
   * Locks the note, the other notes of the task and the heads for a task to be made from the note. On success `json` is the
   * plain title of the note.
   * @param users that will see the task; null for an invalid request
   */
  async open(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    users: string[] | null,
    others: string[],
  ): Promise<NoteOutcome> {
    const values = [ctx.tenantId, ctx.userId, id, users !== null, users ?? [], others, MAX_LINKS];
    return (await tx.query(open, values))[0] as NoteOutcome;
  }

  async link(tx: Tx, ctx: RequestContext, id: string, task: string): Promise<NoteOutcome> {
    return (await tx.query(link, [ctx.tenantId, ctx.userId, id, task]))[0] as NoteOutcome;
  }

  /** Brings the links of the notes of these tasks up to date. */
  async change(tx: Tx, changes: readonly LinkedTaskChange[]): Promise<void> {
    const links = changes.flatMap(({ noteIds, taskId, createdAt, present }) =>
      noteIds.map((note) => ({ note, task: taskId, created_at: createdAt, present })),
    );
    const tenantId = changes[0]?.ctx.tenantId;
    if (links.length === 0) return;
    await tx.query(change, [tenantId, JSON.stringify(links), changes.flatMap(({ users }) => users)]);
  }

  /** The notes that the caller may link to a task: those the caller may edit and that have fewer than 500 links. */
  async linkable(reader: Reader, ctx: RequestContext, ids: readonly string[]): Promise<string[]> {
    const rows = await reader.query(linkable, [ctx.tenantId, ctx.userId, ids, MAX_LINKS]);
    return rows.map((row) => row.id);
  }

  /** Titles of the notes that the caller can read. */
  async titles(reader: Reader, ctx: RequestContext, ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await reader.query(titles, [ctx.tenantId, ctx.userId, ids]);
    return new Map(rows.map((row) => [row.id, row.title]));
  }
}
