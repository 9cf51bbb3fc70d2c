import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { throwQuotaError } from '../../../platform/quotas/quota-error.js';
import { HeadChanges } from '../../../platform/sync/head-changes.js';
import type { newNote, NoteEdit } from '../model/edit-rules.js';
import type { NoteRole } from '../note.entity.js';

/** A decided write of the fields of one note, as the function `note_store` takes it. */
interface EditStore extends Pick<NoteEdit, 'content' | 'folder'> {
  row: NoteEdit['columns'] | ReturnType<typeof newNote>;
  isNew?: boolean;
  event: 'note.created' | 'note.updated';
  device?: string | undefined;
  /** What the rules have assumed without a lock: the note is not in the trash either, and a field differs. */
  assumed?: { revision: number; roles: readonly NoteRole[] };
}

interface StoredEdit {
  revision: number;
  /** JSON of the note as the caller sees it; null for a visitor with a share link. */
  note: string | null;
}

const store = workspace.statement<
  { outcome: 'stored' | 'outdated' | 'exists'; head: number | null } & StoredEdit
>(
  'notes.store_edit',
  `SELECT outcome, revision, note, head::float8 AS head FROM note_store($1, $2, $3, $4, $5)`,
);

/** Stores the fields of notes. */
@Injectable()
export class NoteEditsRepository {
  constructor(private readonly heads: HeadChanges) {}

  /**
   * @returns `outdated`: an assumption is wrong, or the folder is not one of the caller; `exists`: a note has or had the id
   * @throws ApiError 409 `quota_exceeded`
   */
  async store(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    id: string,
    { row, isNew, event, content, folder, device, assumed }: EditStore,
  ): Promise<StoredEdit | 'outdated' | 'exists'> {
    const write = {
      row,
      folder,
      device,
      assumed,
      event: { id: uuidv7(), type: event },
      ...(isNew && { is_new: true }),
    };
    const values = [tenantId, userId, id, JSON.stringify(write), content ?? null];
    const rows = await tx.query(store, values).catch(throwQuotaError);
    const [{ outcome, head, ...stored }] = rows as [(typeof rows)[0]];
    if (head !== null) tx.afterCommit(() => this.heads.report(tenantId, userId, head));
    return outcome === 'stored' ? stored : outcome;
  }
}
