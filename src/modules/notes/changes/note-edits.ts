import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { ApiError } from '../../../platform/http/errors.js';
import { throwQuotaError } from '../../../platform/quotas/row-quota.js';
import { HeadChanges } from '../../../platform/sync/head-watch.js';
import { allocate } from '../../../platform/sync/sync-heads.js';
import { TenantsApi } from '../../tenants/index.js';
import {
  type EditCommand,
  editNote,
  editOf,
  EDITORS,
  newNote,
  type NoteEdit,
  type NoteFacts,
  type NotePatch,
  unknownFolder,
} from '../model/edit-rules.js';
import { NoteErrors } from '../notes.dto.js';
import { type NoteRead, NotesRepository } from '../notes.repository.js';
import type { NoteRole } from '../notes.schema.js';
import { NotePlacementsRepository } from './note-placements.repository.js';
import { NoteRowsRepository } from './note-rows.repository.js';
import { NoteWrites } from './note-writes.js';

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

/** A request to change a note. */
interface Edit {
  id: string;
  command: EditCommand;
  device?: string | undefined;
  /** Token of a share link, for callers that are not invited or have a lower role. */
  link?: string | undefined;
}

type Written = Pick<NoteRead, 'revision' | 'note'>;

/** Creates notes and changes their fields: asks the rules (`model/edit-rules.ts`), and stores the result. */
@Injectable()
export class NoteEdits {
  constructor(
    private readonly edits: NoteEditsRepository,
    private readonly rows: NoteRowsRepository,
    private readonly placements: NotePlacementsRepository,
    private readonly writes: NoteWrites,
    private readonly notes: NotesRepository,
    private readonly tenants: TenantsApi,
    private readonly db: Db,
    private readonly outbox: Outbox,
  ) {}

  /** @throws ApiError 409 `already_exists`, `quota_exceeded`; 422 for an unknown folder */
  async create(tx: Tx, ctx: RequestContext, id: string, patch: NotePatch, device?: string): Promise<string> {
    this.outbox.notice(tx);
    const { content = '', folder_id } = patch;
    const stored = await this.edits.store(tx, ctx, id, {
      isNew: true,
      row: newNote(ctx.userId, patch),
      folder: folder_id ?? undefined,
      content,
      device,
      event: 'note.created',
    });
    if (stored === 'exists') throw NoteErrors.alreadyExists.with();
    if (stored === 'outdated') throw unknownFolder();
    return stored.note!;
  }

  /**
   * One statement, which assumes the usual case: an editor has read the current revision, and changes a field. A transaction that reads
   * what the rules need, if that is wrong.
   * @throws ApiError 403, 404, 409 `conflict`, `deleted`, 422
   */
  async edit(ctx: RequestContext, edit: Edit): Promise<Written> {
    const { id, device, link } = edit;
    const { patch, base, error } = edit.command;
    if (!error && link === undefined && patch.folder_id === undefined) {
      const { columns, content } = editOf(patch);
      const assumed = { revision: base!, roles: EDITORS };
      const stored = await this.db.single(async (tx) => {
        this.outbox.notice(tx);
        return this.edits.store(tx, ctx, id, {
          row: columns,
          content,
          device,
          event: 'note.updated',
          assumed,
        });
      });
      if (typeof stored === 'object') return { revision: stored.revision, note: stored.note! };
    }
    return this.db.tx((tx) => this.editLocked(tx, ctx, edit));
  }

  private async editLocked(
    tx: Tx,
    ctx: RequestContext,
    { id, command, device, link }: Edit,
  ): Promise<Written> {
    const facts = await this.facts(tx, ctx, id, command.patch, link);
    const decision = editNote(facts, command);
    if (decision instanceof ApiError) throw decision;
    if (decision === 'conflict') throw await this.writes.conflict(tx, ctx, facts.note!);
    if ('place' in decision) {
      await this.place(tx, ctx, id, decision.place, device);
      return (await this.notes.read(ctx, id, undefined, tx))!;
    }
    this.outbox.notice(tx);
    const { columns: row, content, folder } = decision;
    const stored = await this.edits.store(tx, ctx, id, {
      row,
      content,
      folder,
      device,
      event: 'note.updated',
    });
    if (typeof stored === 'string')
      throw new ConcurrentChangeError('the folder was deleted while the note was locked');
    if (stored.note !== null) return { revision: stored.revision, note: stored.note };
    const seen = await this.notes.read(ctx, id, link, tx);
    // The link has expired meanwhile.
    if (!seen) throw NoteErrors.notFound.with();
    return seen;
  }

  private async facts(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    { folder_id: folder, content }: NotePatch,
    link: string | undefined,
  ): Promise<NoteFacts> {
    const { tenantId } = ctx;
    const [note = null] = await this.rows.lock(tx, tenantId, [id]);
    const isToken = link !== undefined && note?.share_token === link;
    const inactive = isToken ? await this.tenants.inactiveMembers(tx, tenantId, [note.owner_id]) : [];
    return {
      note,
      hasLink: isToken && inactive.length === 0,
      folder: folder === undefined ? null : ((await this.placements.folders(tx, ctx, [id])).get(id) ?? null),
      isOwnFolder: folder ? await this.placements.isOwnFolder(tx, ctx, folder) : true,
      content: note && content !== undefined ? await this.rows.content(tx, tenantId, note) : null,
    };
  }

  /** Only the feed of the caller gets the note. */
  private async place(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    folder: string | null,
    device: string | undefined,
  ): Promise<void> {
    const before = await allocate(tx, ctx, 1);
    // Under the lock of the counter, which the deletion of a folder takes too.
    if (folder !== null && !(await this.placements.isOwnFolder(tx, ctx, folder)))
      throw new ConcurrentChangeError('the folder was deleted while the note was locked');
    await this.placements.place(tx, ctx, { note: id, folder, number: before + 1, device });
  }
}
