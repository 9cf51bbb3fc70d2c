import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader } from '../../../platform/database/tx.js';
import { MAX_LINKS } from '../model/link-rules.js';

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

/** What tasks read of the notes to which they refer. */
@Injectable()
export class NotesTasksRepository {
  /** The notes that the caller may link to a task: those the caller may edit and that have fewer than `MAX_LINKS` links. */
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
