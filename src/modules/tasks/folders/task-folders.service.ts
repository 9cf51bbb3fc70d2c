import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { ApiError } from '../../../platform/http/api-error.js';
import { Errors } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { jsonList, JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type {
  CreateTaskFolder,
  DeleteTaskFolder,
  FolderMember,
  ListTaskFolders,
  UpdateTaskFolder,
} from './task-folders.dto.js';
import {
  type FolderMembers,
  type TaskFolderInput,
  type TaskFolderOutcome,
  TaskFoldersRepository,
} from './task-folders.repository.js';
import { TaskInputs } from '../task-inputs.js';
import { TaskLinks } from '../task-references.js';
import { fieldError } from '../task-results.js';
import { TaskFolderErrors } from '../tasks.errors.js';

/** Trees of task folders, and with whom they are shared. */
@Injectable()
export class TaskFoldersService {
  constructor(
    private readonly folders: TaskFoldersRepository,
    private readonly inputs: TaskInputs,
    private readonly links: TaskLinks,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly db: Db,
    private readonly outbox: Outbox,
    private readonly config: Config,
  ) {}

  async list(ctx: RequestContext, query: ListTaskFolders): Promise<JsonReply> {
    const parentId = query.parent_id?.toLowerCase();
    const page = `task_folders ${ctx.tenantId} ${ctx.userId} ${parentId ?? ''}`;
    const after =
      query.cursor === undefined ? undefined : (this.cursors.read(page, query.cursor) as [number, string]);
    const rows = await this.folders.list(ctx, parentId === 'none' ? null : parentId, after, query.limit + 1);
    const given = rows.slice(0, query.limit);
    const last = given.at(-1);
    const next =
      last && rows.length > given.length ? this.cursors.write(page, [last.position, last.id]) : null;
    const texts = given.map((row) => row.folder);
    return new JsonReply(jsonList(['folders', 'task_folders'], texts, `"next":${JSON.stringify(next)}}`));
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<JsonReply> {
    const folder = await this.folders.read(ctx, id);
    if (folder === null) throw TaskFolderErrors.notFound.with();
    return folderReply(folder);
  }

  async create(ctx: RequestContext, key: IdempotencyKey | null, body: CreateTaskFolder): Promise<JsonReply> {
    const id = body.id?.toLowerCase() ?? uuidv7();
    const input = { ...(await this.input(ctx, body, ctx.userId)), name: body.name.trim() };
    return this.writes.run(ctx, key, async (tx) => {
      const result = await this.folders.create(tx, ctx, id, input);
      this.outbox.notice(tx);
      return folderReply(written(result), { status: 201, location: `/apis/v1/task_folders/${id}` });
    });
  }

  /** @throws ApiError 403 unless the owner calls, or a member who only leaves; 422 `folder_cycle`, also when moves race */
  async update(ctx: RequestContext, id: string, body: Checked<UpdateTaskFolder>): Promise<JsonReply> {
    const { input, error } = await this.checked(ctx, body);
    return this.db.single(async (tx) => {
      const result = await this.folders.update(tx, ctx, id, input);
      this.outbox.notice(tx);
      return folderReply(written(result, error));
    });
  }

  /** Deletes the folder; its tasks stay or, where asked for, the owner's own go to the trash. */
  async delete(ctx: RequestContext, id: string, query: DeleteTaskFolder): Promise<JsonReply> {
    const contents = query.contents === 'delete';
    return this.db.tx(async (tx) => {
      const { outcome, json, people, linked } = await this.folders.doom(tx, ctx, id, contents);
      const folder = written({ outcome, json });
      if (linked?.length) await this.links.change(tx, ctx, linked, false, undefined, people ?? []);
      await this.folders.delete(tx, ctx, id, contents, this.config.TRASH_RETENTION_DAYS);
      this.outbox.notice(tx);
      return new JsonReply(`{"folder":${folder},"task_folder":${folder},"deleted":true}`);
    });
  }

  private async checked(
    ctx: RequestContext,
    body: Checked<UpdateTaskFolder>,
  ): Promise<{ input: TaskFolderInput | null; error?: ApiError }> {
    if (body.error) return { input: null, error: body.error };
    try {
      return { input: await this.input(ctx, body.value) };
    } catch (error) {
      if (error instanceof ApiError) return { input: null, error };
      throw error;
    }
  }

  private async input(ctx: RequestContext, body: UpdateTaskFolder, owner?: string): Promise<TaskFolderInput> {
    const { name, parent_id, position, color } = body;
    const members = body.members && (await this.members(ctx, body.members, owner));
    return { name: name?.trim(), parent_id: parent_id?.toLowerCase() ?? parent_id, position, color, members };
  }

  /** Who is named twice counts once, with the last role; naming the owner changes nothing. */
  private async members(
    ctx: RequestContext,
    named: readonly FolderMember[],
    owner?: string,
  ): Promise<FolderMembers> {
    const ids = await this.inputs.named(ctx, 'members', named);
    const roles = new Map(ids.map((id, n) => [id, named[n]?.role ?? 'editor'] as const));
    if (owner !== undefined) roles.delete(owner);
    return { ids: [...roles.keys()], roles: [...roles.values()] };
  }
}

// Answers name a folder twice: clients of the tasks area know it as `folder`, generic ones by the name of the resource.
function folderReply(folder: string, options: { status?: number; location?: string } = {}): JsonReply {
  return new JsonReply(`{"folder":${folder},"task_folder":${folder}}`, options);
}

function written({ outcome, json }: TaskFolderOutcome, wrong?: ApiError): string {
  switch (outcome) {
    case 'ok':
      return json ?? 'null';
    case 'not_found':
      throw TaskFolderErrors.notFound.with();
    case 'forbidden':
      throw Errors.forbidden.with();
    case 'already_exists':
      throw TaskFolderErrors.alreadyExists.with();
    case 'cycle':
      throw TaskFolderErrors.cycle.with();
    case 'too_deep':
      throw TaskFolderErrors.tooDeep.with();
    case 'too_many':
      throw TaskFolderErrors.tooMany.with();
    case 'too_large':
      throw TaskFolderErrors.tooLarge.with();
    case 'unknown_parent':
      throw fieldError('parent_id', 'unknown_folder', 'parent_id is not one of your task folders');
    case 'unchecked':
      throw wrong ?? new Error('the folder was not written and nothing says why');
  }
}
