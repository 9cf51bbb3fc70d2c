import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { workspace } from '../../../platform/database/statement.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { ContentCounts } from '../../../platform/references/content-counts.js';
import { FOLDER_CONTENTS_MOVED, FOLDER_CONTENTS_TRASHED } from '../../note-folders/index.js';

const moveFolder = workspace.statement<never>(
  'notes.move_folder',
  `SELECT notes_move_folder($1, $2, $3, $4)`,
);

const trashFolders = workspace.statement<never>(
  'notes.trash_folders',
  `SELECT notes_trash_folders($1, $2, $3, $4)`,
);

// Index note_members_placed. Trashed notes and notes that are no longer shared do not count.
const countFolders = workspace.statement<{ id: string; count: number }>(
  'notes.count_folders',
  `SELECT folder_id AS id, count(*)::int AS count FROM note_members
    WHERE tenant_id = $1 AND user_id = $2 AND folder_id = ANY ($3) AND role IS NOT NULL AND NOT trashed
    GROUP BY folder_id`,
);

/** Moves or trashes the notes of a deleted folder, in the transaction that deletes it. */
@Injectable()
export class NotesOfFolders implements OnModuleInit {
  constructor(
    private readonly hooks: TxHooks,
    private readonly counts: ContentCounts,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.counts.register('note_folder', async (reader, ctx, ids) => {
      const rows = await reader.query(countFolders, [ctx.tenantId, ctx.userId, ids]);
      return new Map(rows.map(({ id, count }) => [id, count]));
    });
    this.hooks.on(FOLDER_CONTENTS_MOVED, async (tx, { ctx, from, to }) => {
      await tx.query(moveFolder, [ctx.tenantId, ctx.userId, from, to]);
    });
    this.hooks.on(FOLDER_CONTENTS_TRASHED, async (tx, { ctx, folders }) => {
      await tx.query(trashFolders, [ctx.tenantId, ctx.userId, folders, this.config.TRASH_RETENTION_DAYS]);
    });
  }
}
