import { Injectable, type OnModuleInit } from '@nestjs/common';
import { filledText } from '../../../lib/text/index.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { fieldError } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { ReferenceTitles } from '../../../platform/references/reference-titles.js';
import { LINKED_TASKS_CHANGED, type LinkedTask, type LinkedTaskChange, TasksApi } from '../../tasks/index.js';
import { lockHeads } from '../../../platform/sync/sync-heads.js';
import { NoteRowsRepository } from '../changes/note-rows.repository.js';
import { changeLinks, type LinkChange, rejectTask } from '../model/link-rules.js';
import type { NoteRow } from '../model/note-row.js';
import { NotesRepository } from '../notes.repository.js';
import { NotesTasksRepository } from './notes-tasks.repository.js';
import { noteWithTask } from './notes-tasks.presenter.js';
import type { NoteTaskEnvelope } from './notes-tasks.response.js';

/** Tasks made from notes, and the links from notes to them. */
@Injectable()
export class NotesTasksService implements OnModuleInit {
  constructor(
    private readonly references: NotesTasksRepository,
    private readonly rows: NoteRowsRepository,
    private readonly notes: NotesRepository,
    private readonly tasks: TasksApi,
    private readonly titles: ReferenceTitles,
    private readonly hooks: TxHooks,
    private readonly writes: IdempotentWrites,
    private readonly outbox: Outbox,
  ) {}

  onModuleInit(): void {
    this.titles.register(
      'note',
      (reader, ctx, ids) => this.references.titles(reader, ctx, ids),
      (reader, ctx, ids) => this.references.linkable(reader, ctx, ids),
    );
    this.hooks.on(LINKED_TASKS_CHANGED, (tx, changes) => this.follow(tx, changes));
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
  ): Promise<JsonReply<NoteTaskEnvelope>> {
    const { draft, error } = await this.tasks.draftFromNote(ctx, body);
    return this.writes.runTx(ctx, key, async (tx) => {
      const others = (draft?.notes ?? []).filter((note) => note !== id);
      const notes = await this.rows.lock(tx, ctx.tenantId, [id, ...others]);
      const note = notes.find((found) => found.id === id) ?? null;
      const rejection = rejectTask(note, { userId: ctx.userId, error });
      if (rejection) throw rejection;
      const title = draft?.title || filledText(note!.title);
      if (!draft || !title) {
        throw fieldError('title', 'is_not_blank', 'title must not be blank where the note has no title');
      }
      await this.lockFeeds(tx, ctx.tenantId, notes, [ctx.userId, ...draft.assignees]);
      const made = await this.tasks.createFromNote(tx, ctx, { draft, noteId: id, title });
      const createdAt = note!.now;
      const links = notes.map((each) => ({ noteId: each.id, taskId: made.id, createdAt, present: true }));
      await this.storeLinks(tx, ctx, notes, links);
      this.outbox.notice(tx);
      const linked = (await this.notes.read(ctx, id, undefined, tx))!;
      return noteWithTask({ id, ...linked }, made);
    });
  }

  /** Updates the links of notes after changes of tasks of one workspace. The rows of the tasks are locked. */
  private async follow(tx: Tx, changes: readonly LinkedTaskChange[]): Promise<void> {
    const links = changes.flatMap(({ noteIds, taskId, createdAt, present }) =>
      noteIds.map((noteId) => ({ noteId, taskId, createdAt, present })),
    );
    const ctx = changes[0]?.ctx;
    if (!ctx || links.length === 0) return;
    const notes = await this.rows.lock(
      tx,
      ctx.tenantId,
      links.map(({ noteId }) => noteId),
    );
    const users = changes.flatMap((change) => change.users);
    await this.lockFeeds(tx, ctx.tenantId, notes, users);
    await this.storeLinks(tx, ctx, notes, links);
  }

  /** Locks the feeds of all users who see the notes or a task: the transaction changes all of these. */
  private async lockFeeds(
    tx: Tx,
    tenantId: string,
    notes: readonly NoteRow[],
    users: readonly string[],
  ): Promise<void> {
    await lockHeads(tx, tenantId, [...users, ...notes.flatMap((note) => note.member_ids)]);
  }

  private async storeLinks(
    tx: Tx,
    ctx: RequestContext,
    notes: readonly NoteRow[],
    links: readonly LinkChange[],
  ): Promise<void> {
    await this.rows.store(
      tx,
      ctx,
      notes.map((note) => ({ note, change: changeLinks(note, links) })),
    );
  }
}
