import { Controller, Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../platform/database/database-errors.js';
import { Db } from '../../platform/database/db.js';
import { changedFields } from '../../platform/database/rows.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { TxHooks } from '../../platform/events/tx-hooks.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import { Cursors } from '../../platform/paging/cursors.js';
import { deleteInBatches } from '../../platform/resources/delete-in-batches.js';
import { ListFolders, parentOf } from '../../platform/resources/folder.dto.js';
import { checkPlace, FolderErrors } from '../../platform/resources/folders.js';
import { ResourceController } from '../../platform/resources/resource.controller.js';
import { type ReplyOf, ResourceFeed } from '../../platform/resources/resource.js';
import { FOLDER_CONTENTS_MOVED, FOLDER_CONTENTS_TRASHED } from './note-folder.hooks.js';
import {
  CreateNoteFolder,
  DeleteNoteFolder,
  noChanges,
  NOTE_FOLDERS,
  type NoteFolderResponse,
  UpdateNoteFolder,
} from './note-folders.dto.js';
import { NoteFoldersRepository } from './note-folders.repository.js';
import type { NoteFolder } from './note-folders.schema.js';

/** The tree of note folders of each user. */
@Injectable()
export class NoteFoldersService {
  constructor(
    private readonly folders: NoteFoldersRepository,
    private readonly writes: IdempotentWrites,
    private readonly hooks: TxHooks,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, query: ListFolders): Promise<ReplyOf<typeof NOTE_FOLDERS, 'list'>> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `note_folders ${ctx.tenantId} ${ctx.userId} ${query.parent_id ?? ''}`,
      key: (folder: NoteFolder): [number, string] => [folder.position, folder.id],
      rows: (after, limit) => this.folders.list(ctx, parentOf(query), after, limit),
    });
    return NOTE_FOLDERS.page(await this.folders.present(this.db, ctx, rows), next);
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<ReplyOf<typeof NOTE_FOLDERS, 'item'>> {
    return NOTE_FOLDERS.response(await this.presentFolder(this.db, ctx, await this.found(this.db, ctx, id)));
  }

  /** @throws ApiError 409 `already_exists`, 422 `folder_too_deep`, `too_many_folders` */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateNoteFolder,
  ): Promise<ReplyOf<typeof NOTE_FOLDERS, 'item'>> {
    const id = input.id?.toLowerCase() ?? uuidv7();
    const { name, color = null, device_id = null } = input;
    const parentId = input.parent_id?.toLowerCase() ?? null;
    return this.writes.runTx(ctx, key, async (tx) => {
      await this.folders.lock(tx, ctx);
      const tree = await this.folders.tree(tx, ctx);
      checkPlace(tree, undefined, parentId);
      const position = input.position ?? tree.lastPosition(parentId);
      const made = await this.folders.insert(tx, ctx, {
        id,
        name,
        color,
        parent_id: parentId,
        position,
        device_id,
      });
      if (!made) throw FolderErrors.alreadyExists.with();
      return NOTE_FOLDERS.created(id, await this.presentFolder(tx, ctx, made));
    });
  }

  /** @throws ApiError 404, 409 `conflict`, 422 `folder_cycle` (also when two moves race), `no_changes` */
  async update(
    ctx: RequestContext,
    id: string,
    body: Checked<UpdateNoteFolder>,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<typeof NOTE_FOLDERS, 'item'>> {
    return this.db.tx(async (tx) => {
      const before = await this.locked(tx, ctx, id);
      await NOTE_FOLDERS.checkWrite(before, expected, body, () => this.presentFolder(tx, ctx, before));
      const { name, position, color, parent_id, device_id = null } = body.value;
      const parentId = parent_id?.toLowerCase() ?? parent_id;
      const changes = changedFields<Partial<NoteFolder>>(before, {
        name,
        position,
        color,
        parent_id: parentId,
      });
      if (changes?.parent_id) checkPlace(await this.folders.tree(tx, ctx), id, changes.parent_id);
      if (!changes) throw noChanges.with();
      const [after] = await this.folders.change(tx, ctx, [id], { ...changes, device_id });
      return NOTE_FOLDERS.response(await this.presentFolder(tx, ctx, after as NoteFolder));
    });
  }

  /** Notes and subfolders move up or, with `contents=trash`, the caller's own notes go to the trash. */
  async delete(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
    { contents }: DeleteNoteFolder,
  ): Promise<ReplyOf<typeof NOTE_FOLDERS, 'deleted'>> {
    const trash = contents === 'trash';
    const deleted = await deleteInBatches(this.db, async (tx) => {
      const folder = trash ? await this.found(tx, ctx, id) : await this.locked(tx, ctx, id);
      const shown = await this.presentFolder(tx, ctx, folder);
      await NOTE_FOLDERS.checkWrite(folder, expected, null, () => shown);
      const isLast = await (trash
        ? this.deleteWithContents(tx, ctx, folder)
        : this.deleteMovingUp(tx, ctx, folder));
      return { shown, isLast };
    });
    return NOTE_FOLDERS.deleted(deleted);
  }

  /** @returns false if the folder stays because notes remain */
  private async deleteMovingUp(tx: Tx, ctx: RequestContext, { id, parent_id }: NoteFolder): Promise<boolean> {
    const areEmpty = await this.hooks.run(tx, FOLDER_CONTENTS_MOVED, { ctx, from: id, to: parent_id });
    if (areEmpty.includes(false)) return false;
    const tree = await this.folders.tree(tx, ctx);
    await this.folders.change(tx, ctx, tree.children(id), { parent_id, device_id: null });
    await this.folders.remove(tx, ctx, [id]);
    return true;
  }

  /**
   * Notes are locked before the counter, as everywhere. So the tree is read without a lock first and compared under the lock.
   * @returns false if the folders stay because notes remain
   */
  private async deleteWithContents(
    tx: Tx,
    ctx: RequestContext,
    { id, revision }: NoteFolder,
  ): Promise<boolean> {
    const folders = (await this.folders.tree(tx, ctx)).listBelow(id);
    const areEmpty = await this.hooks.run(tx, FOLDER_CONTENTS_TRASHED, { ctx, folders });
    const locked = await this.locked(tx, ctx, id);
    const below = (await this.folders.tree(tx, ctx)).listBelow(id);
    if (locked.revision !== revision || below.some((found) => !folders.includes(found)))
      throw new ConcurrentChangeError('the folders have changed');
    if (areEmpty.includes(false)) return false;
    await this.folders.remove(tx, ctx, below.toReversed());
    return true;
  }

  private async found(reader: Reader, ctx: RequestContext, id: string): Promise<NoteFolder> {
    const folder = await this.folders.find(ctx, id, reader);
    if (!folder) throw NOTE_FOLDERS.notFound.with();
    return folder;
  }

  /** Locks the tree and reads the folder. Reads it before the lock too, so that a request for an unknown folder does not wait. */
  private async locked(tx: Tx, ctx: RequestContext, id: string): Promise<NoteFolder> {
    await this.found(tx, ctx, id);
    await this.folders.lock(tx, ctx);
    return this.found(tx, ctx, id);
  }

  private async presentFolder(
    reader: Reader,
    ctx: RequestContext,
    folder: NoteFolder,
  ): Promise<NoteFolderResponse> {
    return (await this.folders.present(reader, ctx, [folder]))[0] as NoteFolderResponse;
  }
}

@Controller(NOTE_FOLDERS.options.path)
export class NoteFolderFeedController extends ResourceFeed(NOTE_FOLDERS, NoteFoldersRepository, {
  changes:
    'As for notes. The feeds of notes and folders share one counter: the order of related changes is kept across both.',
}) {}

@Controller(NOTE_FOLDERS.options.path)
export class NoteFoldersController extends ResourceController(NOTE_FOLDERS, NoteFoldersService, {
  list: {
    query: ListFolders,
    summary: 'List your note folders',
    description: 'In the order of `position`. Each user has folders of their own, also for notes of others.',
  },
  create: {
    body: CreateNoteFolder,
    description: 'At the top of your tree, or in the folder `parent_id`.',
    errors: [FolderErrors.alreadyExists, FolderErrors.tooDeep, FolderErrors.tooMany],
  },
  read: {
    description: 'One of your folders, without the notes in it: `GET /notes?folder_id=` lists them.',
  },
  update: {
    body: UpdateNoteFolder,
    summary: 'Rename, move or colour a note folder',
    description: 'Only the given fields change. A folder cannot be moved into itself or below itself.',
    example: { name: 'Projects of 2027' },
    errors: [FolderErrors.cycle, FolderErrors.tooDeep, noChanges],
  },
  delete: {
    query: DeleteNoteFolder,
    description:
      'Notes and subfolders move up to its parent, unless `contents=trash` is given. Notes of other users only leave the folder.',
  },
}) {}
