import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import type { LinkedTaskChange } from '../../tasks/index.js';
import type { NoteOutcome } from '../notes.repository.js';

/** More tasks than these are not made from one note. */
const MAX_LINKS = 500;

const OUTCOME = 'outcome, revision, json';

const open = workspace.statement<NoteOutcome>(
  'notes.open_for_task',
  `SELECT ${OUTCOME} FROM note_open_for_task($1, $2, $3, $4, $5, $6)`,
);

const link = workspace.statement<NoteOutcome>(
  'notes.link_task',
  `SELECT ${OUTCOME} FROM note_link_task($1, $2, $3, $4, $5)`,
);

const change = workspace.statement<never>(
  'notes.links_change',
  `SELECT note_links_change($1, $2, $3, $4, $5, $6, $7)`,
);

// The rows of one person: index note_members_pkey, note by note.
const titles = workspace.statement<{ id: string; title: string }>(
  'notes.titles',
  `SELECT n.id, n.title FROM unnest($3::uuid[]) AS w (id)
     JOIN note_members m ON m.tenant_id = $1 AND m.note_id = w.id AND m.user_id = $2 AND m.role IS NOT NULL
     JOIN notes n ON n.tenant_id = $1 AND n.id = w.id`,
);

/** All SQL on the links between notes and tasks. */
@Injectable()
export class NotesTasksRepository {
  /**
   * Locks the note and the counters for a task to be made from it. On success `json` is the note's title, as it is.
   * @param people who will see the task; null: the request is wrong
   */
  async open(tx: Tx, ctx: RequestContext, id: string, people: string[] | null): Promise<NoteOutcome> {
    const values = [ctx.tenantId, ctx.userId, id, people !== null, people ?? [], MAX_LINKS];
    return (await tx.query(open, values))[0] as NoteOutcome;
  }

  async link(tx: Tx, ctx: RequestContext, id: string, task: string, title: string): Promise<NoteOutcome> {
    return (await tx.query(link, [ctx.tenantId, ctx.userId, id, task, title]))[0] as NoteOutcome;
  }

  /** One row for each link: a task may be linked from several notes. */
  async change(tx: Tx, changes: readonly LinkedTaskChange[]): Promise<void> {
    const links = changes.flatMap((task) => task.noteIds.map((note) => ({ ...task, note })));
    const [first] = links;
    if (!first) return;
    await tx.query(change, [
      first.ctx.tenantId,
      links.map(({ note }) => note),
      links.map(({ taskId }) => taskId),
      links.map(({ title }) => title),
      links.map(({ createdAt }) => createdAt),
      links.map(({ present }) => present),
      changes.flatMap(({ people }) => people),
    ]);
  }

  /** Titles of those the caller may read. */
  async titles(reader: Reader, ctx: RequestContext, ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await reader.query(titles, [ctx.tenantId, ctx.userId, ids]);
    return new Map(rows.map((row) => [row.id, row.title]));
  }
}
