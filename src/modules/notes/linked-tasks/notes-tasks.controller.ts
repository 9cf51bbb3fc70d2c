import { Controller, Injectable, type OnModuleInit } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { filledText } from '../../../lib/text/index.js';
import {
  Idempotency,
  type IdempotencyKey,
  IdempotentWrites,
} from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { BodyLimit } from '../../../platform/http/body/body-limits.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors, fieldError } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.dto.js';
import { ReferenceTitles } from '../../../platform/references/reference-titles.js';
import { lockHeads } from '../../../platform/sync/sync-heads.js';
import { LINKED_TASKS_CHANGED, LinkedTask, type LinkedTaskChange, TasksApi } from '../../tasks/index.js';
import { NoteRowsRepository } from '../changes/note-rows.repository.js';
import { changeLinks, type LinkChange, MAX_LINKS, type NoteRow, rejectTask } from '../model/note-rules.js';
import { noteWithTask } from '../note.presenter.js';
import { NoteErrors, NoteTaskEnvelope } from '../notes.dto.js';
import { NotesRepository } from '../notes.repository.js';
import type { Note } from '../notes.schema.js';

// Index note_members_pkey, note by note.
const titles = workspace.statement<Pick<Note, 'id' | 'title'>>(
  'notes.titles',
  `SELECT note.id, note.title FROM unnest($3::uuid[]) AS wanted (id)
     JOIN note_members member ON member.tenant_id = $1 AND member.note_id = wanted.id AND member.user_id = $2
                             AND member.role IS NOT NULL
     JOIN notes note ON note.tenant_id = $1 AND note.id = wanted.id`,
);

const linkable = workspace.statement<Pick<Note, 'id'>>(
  'notes.linkable',
  `SELECT note.id FROM unnest($3::uuid[]) AS wanted (id)
     JOIN note_members member ON member.tenant_id = $1 AND member.note_id = wanted.id AND member.user_id = $2
                             AND member.role >= 'editor'
     JOIN notes note ON note.tenant_id = $1 AND note.id = wanted.id
    WHERE jsonb_array_length(note.links) < $4`,
);

/** What tasks read of the notes to which they refer. */
@Injectable()
export class NotesTasksRepository {
  /** The notes that the caller may link to a task: those the caller may edit and that have fewer than `MAX_LINKS` links. */
  async findLinkable(reader: Reader, ctx: RequestContext, ids: readonly string[]): Promise<string[]> {
    const rows = await reader.query(linkable, [ctx.tenantId, ctx.userId, ids, MAX_LINKS]);
    return rows.map((row) => row.id);
  }

  /** Titles of the notes that the caller can read. */
  async titles(reader: Reader, ctx: RequestContext, ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await reader.query(titles, [ctx.tenantId, ctx.userId, ids]);
    return new Map(rows.map((row) => [row.id, row.title]));
  }
}

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
      (reader, ctx, ids) => this.references.findLinkable(reader, ctx, ids),
    );
    this.hooks.on(LINKED_TASKS_CHANGED, (tx, changes) => this.follow(tx, changes));
  }

  /**
   * Creates a task that refers to the note. The same transaction links this note and the other notes to which the task refers to the
   * task. The revision of the note does not change.
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

const TASK_BODY_BYTES = 2 * 1024 * 1024;

@ApiTags('notes')
@Controller('notes')
export class NotesTasksController {
  constructor(private readonly tasks: NotesTasksService) {}

  @Endpoint('POST :id/task', {
    id: 'createTaskFromNote',
    summary: 'Create a task from a note',
    description:
      'The task refers to the note and the note links to the task; the revision of the note does not change. Default for the title: the title of the note.',
    status: 201,
    response: [NoteTaskEnvelope, 'The new task, and the note with its link.'],
    etag: 'note',
    optionalBody: true,
    example: { title: 'Book the rooms', date: '2026-12-01' },
    errors: [
      NoteErrors.notFound,
      Errors.forbidden,
      NoteErrors.deleted,
      NoteErrors.tooManyLinks,
      NoteErrors.unknownUser,
      QuotaErrors.exceeded,
    ],
  })
  @BodyLimit(TASK_BODY_BYTES)
  create(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(LinkedTask) body: Checked<LinkedTask>,
  ) {
    return this.tasks.create(ctx, id, key, body);
  }
}
