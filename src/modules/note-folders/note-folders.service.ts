import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type IdempotencyKey, IdempotentWrites } from '../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { TxHooks } from '../../platform/events/tx-hooks.js';
import type { ApiError } from '../../platform/http/api-error.js';
import { Errors } from '../../platform/http/errors.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { Cursors } from '../../platform/paging/cursors.js';
import { FOLDER_CONTENTS_MOVED, FOLDER_CONTENTS_TRASHED } from './note-folder.hooks.js';
import { deletedFolderReply, folderListReply, folderReply } from './note-folder.presenter.js';
import type {
  CreateNoteFolder,
  DeleteNoteFolder,
  ListNoteFolders,
  UpdateNoteFolder,
} from './note-folders.dto.js';
import { FolderErrors } from './note-folders.errors.js';
import { type FolderOutcome, NoteFoldersRepository } from './note-folders.repository.js';

/** Each person's own tree of note folders. */
@Injectable()
export class NoteFoldersService {
  constructor(
    private readonly folders: NoteFoldersRepository,
    private readonly writes: IdempotentWrites,
    private readonly hooks: TxHooks,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, query: ListNoteFolders): Promise<JsonReply> {
    const page = `note_folders ${ctx.tenantId} ${ctx.userId} ${query.parent_id ?? ''}`;
    const parent = query.parent_id === 'none' ? null : query.parent_id;
    const after =
      query.cursor === undefined ? undefined : (this.cursors.read(page, query.cursor) as [number, string]);
    const rows = await this.folders.list(ctx, parent, after, query.limit + 1);
    const given = rows.slice(0, query.limit);
    const last = given.at(-1);
    const next =
      last && rows.length > given.length ? this.cursors.write(page, [last.position, last.id]) : null;
    return folderListReply(
      given.map((row) => row.folder),
      next,
    );
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<JsonReply> {
    const found = await this.folders.read(ctx, id);
    if (!found) throw FolderErrors.notFound.with();
    return folderReply(found.folder);
  }

  async create(ctx: RequestContext, key: IdempotencyKey | null, input: CreateNoteFolder): Promise<JsonReply> {
    const id = input.id?.toLowerCase() ?? uuidv7();
    return this.writes.run(ctx, key, async (tx) => {
      const folder = written(await this.folders.create(tx, ctx, id, input));
      return folderReply(folder, { status: 201, location: `/apis/v1/note_folders/${id}` });
    });
  }

  /** @throws ApiError 422 `folder_cycle`, also when two moves race */
  async update(ctx: RequestContext, id: string, body: Checked<UpdateNoteFolder>): Promise<JsonReply> {
    return this.db.single(async (tx) => {
      const result = await this.folders.update(tx, ctx, id, body.error ? null : body.value);
      return folderReply(written(result, body.error));
    });
  }

  /** Deletes the folder; what lay in it moves up or, where asked for, the caller's own notes go to the trash. */
  async delete(ctx: RequestContext, id: string, { contents }: DeleteNoteFolder): Promise<JsonReply> {
    return this.db.tx((tx) =>
      contents === 'trash' ? this.deleteWithContents(tx, ctx, id) : this.deleteMovingUp(tx, ctx, id),
    );
  }

  private async deleteMovingUp(tx: Tx, ctx: RequestContext, id: string): Promise<JsonReply> {
    const exists = (await this.folders.read(ctx, id, tx)) !== null;
    if (exists) await this.folders.lock(tx, ctx);
    const found = exists ? await this.folders.read(ctx, id, tx) : null;
    if (!found) throw FolderErrors.notFound.with();
    await this.hooks.run(tx, FOLDER_CONTENTS_MOVED, { ctx, from: id, to: found.parent_id });
    await this.folders.delete(tx, ctx, id, false, [id]);
    return deletedFolderReply(found.folder);
  }

  /** Notes are locked before the counter, as everywhere; so the tree is read first and compared when it is locked. */
  private async deleteWithContents(tx: Tx, ctx: RequestContext, id: string): Promise<JsonReply> {
    const found = await this.folders.read(ctx, id, tx);
    if (!found) throw FolderErrors.notFound.with();
    const below = await this.folders.below(tx, ctx, id);
    await this.hooks.run(tx, FOLDER_CONTENTS_TRASHED, { ctx, folders: below });
    await this.folders.delete(tx, ctx, id, true, below);
    return deletedFolderReply(found.folder);
  }
}

function written({ outcome, json }: FolderOutcome, wrong?: ApiError): string {
  switch (outcome) {
    case 'ok':
      return json ?? 'null';
    case 'not_found':
      throw FolderErrors.notFound.with();
    case 'already_exists':
      throw FolderErrors.alreadyExists.with();
    case 'cycle':
      throw FolderErrors.cycle.with();
    case 'too_deep':
      throw FolderErrors.tooDeep.with();
    case 'too_many':
      throw FolderErrors.tooMany.with();
    case 'no_changes':
      throw FolderErrors.noChanges.with();
    case 'unknown_parent':
      throw Errors.validationFailed.with({
        details: [
          {
            field: 'parent_id',
            code: 'unknown_folder',
            message: 'parent_id is not one of your note folders',
          },
        ],
      });
    case 'unchecked':
      throw wrong ?? new Error('the folder was not written and nothing says why');
  }
}
