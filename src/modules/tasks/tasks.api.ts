import { Injectable } from '@nestjs/common';
import { filledText } from '../../lib/text/index.js';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { type ApiError, fieldError } from '../../platform/http/errors.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import type { StoredReference } from './tasks.schema.js';
import { TaskResults } from './responses/task.presenter.js';
import { TaskFolderRoles } from './changes/task-writes.repository.js';
import { TaskInputs } from './task-inputs.js';
import { type CreateTask, type LinkedTask, MAX_REFERENCES } from './tasks.dto.js';
import { mayWrite } from './model/rules/task-row.js';
import type { TaskPatch } from './model/rules/task-merge.js';
import { TaskWrites } from './changes/task-writes.js';
import { TasksService } from './tasks.service.js';

/** A task that will be made from a note, checked before the transaction. */
interface TaskDraft {
  /** Blank: the title of the note. */
  title: string;
  /** Users whose counters the transaction needs besides that of the creator. */
  assignees: string[];
  fields: TaskPatch;
  /** Notes among the references that the caller may edit: they link back to the task. */
  notes: string[];
  device?: string;
}

/** Tasks for other domains. */
@Injectable()
export class TasksApi {
  constructor(
    private readonly writes: TaskWrites,
    private readonly inputs: TaskInputs,
    private readonly results: TaskResults,
    private readonly service: TasksService,
    private readonly folders: TaskFolderRoles,
    private readonly db: Db,
  ) {}

  /** Whether the user may create tasks in the folder. */
  async isWritableFolder(ctx: RequestContext, folderId: string): Promise<boolean> {
    return mayWrite(await this.folders.role(this.db, ctx, folderId));
  }

  /** @returns the id of the new task @throws ApiError 409 `quota_exceeded`; 422 for the folder and for times */
  async create(ctx: RequestContext, fields: Omit<CreateTask, 'id'>): Promise<string> {
    const id = uuidv7();
    await this.service.create(ctx, null, { ...fields, id });
    return id;
  }

  /** Looks up users and references and cleans HTML before the transaction. Returns the error instead of throwing it. */
  async draftFromNote(
    ctx: RequestContext,
    body: Checked<LinkedTask>,
  ): Promise<{ draft: TaskDraft | null; error?: ApiError }> {
    const checked = await body.map(async ({ title, device_id: device, ...input }) => {
      const { linkable_notes: notes = [], ...fields } = await this.inputs.common(ctx, input);
      const { assignee_ids: assignees = [] } = fields;
      return { title: filledText(title ?? ''), assignees, fields, notes, device };
    });
    return checked.error ? { draft: null, error: checked.error } : { draft: checked.value };
  }

  /**
   * Creates a task that refers to a note. The caller has locked the note, those of the draft and the counters of all users
   * concerned, and links the notes to the task in the same transaction. LINKED_TASKS_CHANGED reports later changes.
   * @returns its id and its JSON
   * @throws ApiError 422 when it has more references than a task may have
   */
  async createFromNote(
    tx: Tx,
    ctx: RequestContext,
    { draft, noteId, title }: { draft: TaskDraft; noteId: string; title: string },
  ): Promise<{ id: string; task: string }> {
    const id = uuidv7();
    const others = (draft.fields.refs ?? []).filter((reference) => reference.id !== noteId);
    const refs: StoredReference[] = [{ type: 'note', id: noteId }, ...others];
    if (refs.length > MAX_REFERENCES)
      throw fieldError(
        'references',
        'array_max_size',
        `references must contain at most ${MAX_REFERENCES} elements with the note`,
      );
    const written = await this.writes.write(tx, ctx, {
      kind: 'create',
      id,
      userId: ctx.userId,
      patch: { ...draft.fields, title, refs },
      device: draft.device,
      linkedNotes: [...new Set([noteId, ...draft.notes])],
    });
    return { id, task: await this.results.task(tx, ctx, id, written) };
  }
}
