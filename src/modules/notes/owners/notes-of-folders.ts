import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { ContentCounts } from '../../../platform/references/related-items.js';
import { lockHead } from '../../../platform/sync/sync-heads.js';
import { FOLDER_CONTENTS_MOVED, FOLDER_CONTENTS_TRASHED } from '../../note-folders/index.js';
import { NoteRowsRepository } from '../changes/note-rows.repository.js';
import { intoTrash } from '../model/note-rules.js';
import { NotePlacementsRepository } from '../changes/note-placements.repository.js';

/** Notes that one transaction takes out of deleted folders. */
const BATCH = 1_000;

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
    private readonly notes: NoteRowsRepository,
    private readonly placements: NotePlacementsRepository,
    private readonly hooks: TxHooks,
    private readonly counts: ContentCounts,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.counts.register('note_folder', async (reader, ctx, ids) => {
      const rows = await reader.query(countFolders, [ctx.tenantId, ctx.userId, ids]);
      return new Map(rows.map(({ id, count }) => [id, count]));
    });
    this.hooks.on(FOLDER_CONTENTS_MOVED, (tx, { ctx, from, to }) =>
      this.placements.move(tx, ctx, from, to, BATCH),
    );
    this.hooks.on(FOLDER_CONTENTS_TRASHED, (tx, { ctx, folders }) => this.trash(tx, ctx, folders));
  }

  /**
   * Moves the caller's own notes in the folders to the trash, then takes other notes out of the folders.
   * @returns whether the folders are empty
   */
  private async trash(tx: Tx, ctx: RequestContext, folders: readonly string[]): Promise<boolean> {
    const { tenantId, userId } = ctx;
    const found = await this.placements.findOwned(tx, ctx, folders, BATCH);
    const locked = await this.notes.lock(tx, tenantId, found);
    // Under the lock, which an owner who moves the note takes too: a note that has left the folders is not trashed.
    const places = await this.placements.folders(tx, ctx, found);
    const notes = locked.filter(
      ({ id, deleted_at }) => deleted_at === null && folders.includes(places.get(id) ?? ''),
    );
    const keepDays = this.config.TRASH_RETENTION_DAYS;
    await this.notes.store(
      tx,
      ctx,
      notes.map((note) => ({ note, change: intoTrash(note, userId, keepDays) })),
    );
    const trashed = notes.map(({ id }) => id);
    await this.placements.clear(tx, ctx, trashed);
    if (found.length === BATCH) return false;
    // The lock of the caller's counter is the lock of the folder tree.
    await lockHead(tx, ctx);
    if ((await this.placements.findOwned(tx, ctx, folders, 1)).length > 0)
      throw new ConcurrentChangeError('a note was filed in the folder meanwhile');
    for (const folder of folders)
      if (!(await this.placements.move(tx, ctx, folder, null, BATCH))) return false;
    return true;
  }
}
