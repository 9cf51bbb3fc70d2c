import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import type { StoredReference } from './task.entity.js';
import { TaskAnswers } from './task-results.js';
import { TaskInputs } from './task-inputs.js';
import type { CreateTaskFolder } from './folders/task-folders.dto.js';
import { TaskFoldersService } from './folders/task-folders.service.js';
import type { CreateTask, LinkedTask } from './tasks.dto.js';
import { type TaskPatch, TasksRepository } from './tasks.repository.js';
import { TasksService } from './tasks.service.js';

/** A task to be made from a note, as far as it is known before the note is. */
export interface TaskDraft {
  /** Blank: that of the note. */
  title: string;
  /** Whose counters making it will need, besides the maker's. */
  assignees: string[];
  fields: TaskPatch;
}

/** What other domains may ask of tasks. */
@Injectable()
export class TasksApi {
  constructor(
    private readonly service: TasksService,
    private readonly folders: TaskFoldersService,
    private readonly tasks: TasksRepository,
    private readonly inputs: TaskInputs,
    private readonly answers: TaskAnswers,
    private readonly db: Db,
  ) {}

  /** Creates a task of the caller's, under the same rules as the interface. */
  async create(ctx: RequestContext, task: CreateTask): Promise<void> {
    await this.service.create(ctx, null, task);
  }

  /** Creates a task folder of the caller's, likewise. */
  async createFolder(ctx: RequestContext, folder: CreateTaskFolder): Promise<void> {
    await this.folders.create(ctx, null, folder);
  }

  /** Looks up people and references and checks HTML, before any transaction. What is wrong is answered, not thrown. */
  async draftFromNote(
    ctx: RequestContext,
    body: Checked<LinkedTask>,
  ): Promise<{ draft: TaskDraft | null; error?: ApiError }> {
    if (body.error) return { draft: null, error: body.error };
    try {
      const { title, ...input } = body.value;
      const fields = await this.inputs.common(this.db, ctx, input);
      const assignees = (fields['assignee_ids'] as string[] | undefined) ?? [];
      return { draft: { title: title?.trim() ?? '', assignees, fields } };
    } catch (error) {
      if (error instanceof ApiError) return { draft: null, error };
      throw error;
    }
  }

  /**
   * Makes a task that refers to a note. The caller has locked the note and the counters of everybody concerned, and links
   * the note to the task in the same transaction; when the task is deleted, restored or renamed, LINKED_TASKS_CHANGED says so.
   * @returns its id and its JSON
   */
  async createFromNote(
    tx: Tx,
    ctx: RequestContext,
    { draft, noteId, title }: { draft: TaskDraft; noteId: string; title: string },
  ): Promise<{ id: string; task: string }> {
    const id = uuidv7();
    const others = ((draft.fields['refs'] as StoredReference[] | undefined) ?? []).filter(
      (reference) => reference.id !== noteId,
    );
    const refs: StoredReference[] = [{ type: 'note', id: noteId }, ...others];
    const result = await this.tasks.create(tx, ctx, id, {
      ...draft.fields,
      title,
      refs,
      linked_notes: [noteId],
    });
    return { id, task: await this.answers.task(tx, ctx, id, result) };
  }
}
