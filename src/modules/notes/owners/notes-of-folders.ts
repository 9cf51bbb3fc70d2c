import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { workspace } from '../../../platform/database/statement.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { ContentCounts } from '../../../platform/references/content-counts.js';
import { FOLDER_CONTENTS_MOVED, FOLDER_CONTENTS_TRASHED } from '../../note-folders/index.js';

/** Notes that one transaction takes out of deleted folders. */
const BATCH = 1_000;

const moveBatch = workspace.statement<{ are_empty: boolean }>(
  'notes.move_batch',
  `SELECT notes_move_batch($1, $2, $3, $4, $5) AS are_empty`,
);

const trashBatch = workspace.statement<{ are_empty: boolean }>(
  'notes.trash_batch',
  `SELECT notes_trash_batch($1, $2, $3, $4, $5) AS are_empty`,
);

// Index note_members_placed. Trashed notes and notes that are no longer shared do not count.
const countFolders = workspace.statement<{ id: string; count: number }>(
  'notes.count_folders',
  `SELECT folder_id AS id, count(*)::int AS count FROM note_members
    WHERE tenant_id = $1 AND user_id = $2 AND folder_id = ANY ($3) AND role IS NOT NULL AND NOT trashed
    GROUP BY folder_id`,
);

/** Moves or trashes the notes of a deleted folder, in the transactions that delete it. */
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
      const [moved] = await tx.query(moveBatch, [ctx.tenantId, ctx.userId, from, to, BATCH]);
      return moved!.are_empty;
    });
    this.hooks.on(FOLDER_CONTENTS_TRASHED, async (tx, { ctx, folders }) => {
      const values = [ctx.tenantId, ctx.userId, folders, this.config.TRASH_RETENTION_DAYS, BATCH];
      const [trashed] = await tx.query(trashBatch, values);
      return trashed!.are_empty;
    });
  }
}
