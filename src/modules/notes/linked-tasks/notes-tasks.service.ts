import { Injectable, type OnModuleInit } from '@nestjs/common';
import { filledText } from '../../../lib/text/index.js';
import { revisionTag } from '../../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { fieldError } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { ReferenceTitles } from '../../../platform/references/reference-titles.js';
import { LINKED_TASKS_CHANGED, type LinkedTask, TasksApi } from '../../tasks/index.js';
import { written } from '../note-outcome.js';
import { NotesTasksRepository } from './notes-tasks.repository.js';

/** Tasks made from notes, and the links from notes to them. */
@Injectable()
export class NotesTasksService implements OnModuleInit {
  constructor(
    private readonly notes: NotesTasksRepository,
    private readonly tasks: TasksApi,
    private readonly titles: ReferenceTitles,
    private readonly hooks: TxHooks,
    private readonly writes: IdempotentWrites,
    private readonly db: Db,
    private readonly outbox: Outbox,
  ) {}

  onModuleInit(): void {
    this.titles.register(
      'note',
      (reader, ctx, ids) => this.notes.titles(reader, ctx, ids),
      (reader, ctx, ids) => this.notes.linkable(reader, ctx, ids),
    );
    this.hooks.on(LINKED_TASKS_CHANGED, (tx, changes) => this.notes.change(tx, changes));
  }

  /**
   * Creates a task that refers to the note. In the same transaction, links this note and the other notes to which the task
   * refers to the task. The revision of the note does not change.
   * @throws ApiError 422 also if neither the body nor the note has a title
   */
  async create(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
    body: Checked<LinkedTask>,
  ): Promise<JsonReply> {
    const { draft, error } = await this.tasks.draftFromNote(ctx, body);
    const create = async (tx: Tx): Promise<JsonReply> => {
      const others = (draft?.notes ?? []).filter((note) => note !== id);
      const opened = await this.notes.open(tx, ctx, id, draft && [ctx.userId, ...draft.assignees], others);
      const noteTitle = opened.outcome === 'ok' ? opened.json : written(opened, id, error);
      const title = draft?.title || filledText(noteTitle ?? '');
      if (!draft || !title) {
        throw fieldError('title', 'is_not_blank', 'title must not be blank where the note has no title');
      }
      const made = await this.tasks.createFromNote(tx, ctx, { draft, noteId: id, title });
      await this.notes.change(tx, [
        { ctx, taskId: made.id, title, createdAt: new Date(), noteIds: others, present: true, users: [] },
      ]);
      const linked = await this.notes.link(tx, ctx, id, made.id);
      this.outbox.notice(tx);
      const note = written(linked, id);
      return new JsonReply(`{"task":${made.task},"note":${note}}`, {
        status: 201,
        etag: revisionTag('note', id, linked.revision ?? 0),
        location: `/apis/v1/tasks/${made.id}`,
      });
    };
    return key === null ? this.db.tx(create) : this.writes.run(ctx, key, create);
  }
}
