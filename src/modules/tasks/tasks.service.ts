import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../config/config.js';
import type { ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { Outbox } from '../../platform/events/outbox.js';
import type { ApiError } from '../../platform/http/api-error.js';
import { Errors } from '../../platform/http/errors.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { TaskAnswers, taskReply } from './task-results.js';
import { TaskInputs } from './task-inputs.js';
import { TaskLinks, TaskReferences } from './task-references.js';
import { nextOccurrence } from './schedule/task-recurrence.js';
import type { StoredRecurrence } from './task.entity.js';
import type { CreateTask, DeleteTask, UpdateTask } from './tasks.dto.js';
import { TaskErrors } from './tasks.errors.js';
import { type TaskOutcome, type TaskWrite, TasksRepository } from './tasks.repository.js';

interface RepeatBasis extends StoredRecurrence {
  time_zone: string;
  date: string;
  due_at: string | null;
  folder_id: string | null;
}

const TASKS_PATH = '/apis/v1/tasks';
/** A repeating task whose rule or date keeps changing while it is being completed is given up on. */
const MAX_PLANS = 20;

/** Single tasks: create, read, write, trash, restore. */
@Injectable()
export class TasksService {
  constructor(
    private readonly tasks: TasksRepository,
    private readonly inputs: TaskInputs,
    private readonly answers: TaskAnswers,
    private readonly references: TaskReferences,
    private readonly links: TaskLinks,
    private readonly writes: IdempotentWrites,
    private readonly db: Db,
    private readonly outbox: Outbox,
    private readonly config: Config,
  ) {}

  /** @throws ApiError 409 `already_exists`; 422 for people, references or folders that are not there */
  async create(ctx: RequestContext, key: IdempotencyKey | null, input: CreateTask): Promise<JsonReply> {
    const { last: _, ...fields } = await this.inputs.fields(ctx, input);
    const id = input.id?.toLowerCase() ?? uuidv7();
    return this.writes.run(ctx, key, async (tx) => {
      const result = await this.tasks.create(tx, ctx, id, fields);
      this.outbox.notice(tx);
      const extras = { status: 201, location: `${TASKS_PATH}/${id}` };
      return this.answers.reply(key === null ? this.db : tx, ctx, id, result, extras);
    });
  }

  /** @throws ApiError 404 `not_found` */
  async read(ctx: RequestContext, id: string): Promise<JsonReply> {
    const found = await this.tasks.read(ctx, id);
    if (!found) throw TaskErrors.notFound.with();
    const [task = 'null'] = await this.references.complete(this.db, ctx, [found]);
    return taskReply(id, found.revision, task);
  }

  /** Changes the fields given; compare-and-set on the revision where the client said which one it read. */
  async update(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
    body: Checked<UpdateTask>,
  ): Promise<JsonReply> {
    const { patch, error } = await this.inputs.checked(ctx, body, () => this.tasks.folderOf(ctx, id));
    const wrong = expected.error ?? error;
    const base = wrong ? null : expected.valueIfGiven;
    const write: TaskWrite = { base, patch: wrong ? null : patch };
    const result = await this.written(ctx, id, write);
    if (result.outcome === 'linked') return this.updateLinked(ctx, id, write, result);
    return this.answers.reply(this.db, ctx, id, result, { wrong });
  }

  /** Moves the task to the trash; notes that link back to it lose their links. */
  async trash(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
    body: Checked<DeleteTask>,
  ): Promise<JsonReply> {
    const wrong = expected.error ?? body.error;
    const base = wrong ? null : expected.valueIfGiven;
    const run = (tx: Tx, linksSeenTo: boolean) => {
      const how = { base, valid: !wrong, linksSeenTo };
      return this.tasks.trash(tx, ctx, id, how, this.config.TRASH_RETENTION_DAYS);
    };
    return this.unlinking(ctx, id, false, run, { wrong, more: { deleted: 'true' } });
  }

  /** Takes the task out of the trash, and puts links to it back into notes; one that is not there stays as it is. */
  async restore(ctx: RequestContext, id: string): Promise<JsonReply> {
    return this.unlinking(ctx, id, true, (tx, seenTo) => this.tasks.restore(tx, ctx, id, seenTo), {});
  }

  private async unlinking(
    ctx: RequestContext,
    id: string,
    present: boolean,
    run: (tx: Tx, linksSeenTo: boolean) => Promise<TaskOutcome>,
    extras: { wrong?: ApiError; more?: Record<string, string> },
  ): Promise<JsonReply> {
    const result = await this.db.single(async (tx) => {
      this.outbox.notice(tx);
      return run(tx, false);
    });
    if (result.outcome !== 'linked') return this.answers.reply(this.db, ctx, id, result, extras);
    return this.db.tx(async (tx) => {
      await this.links.change(tx, ctx, [id], present);
      this.outbox.notice(tx);
      return this.answers.reply(tx, ctx, id, await run(tx, true), extras);
    });
  }

  /** One statement, unless completing needs the next occurrence of a repeating task. */
  private async written(ctx: RequestContext, id: string, write: TaskWrite): Promise<TaskOutcome> {
    let plan: Partial<TaskWrite> = {};
    for (let n = 0; n < MAX_PLANS; n += 1) {
      const result = await this.db.single(async (tx) => {
        this.outbox.notice(tx);
        return this.tasks.update(tx, ctx, id, { ...write, ...plan });
      });
      if (result.outcome !== 'replan') return result;
      plan = planned(result);
    }
    throw Errors.overloaded.with({ headers: { 'Retry-After': '1' } });
  }

  /** A task that notes link back to is renamed, there too, in one transaction. */
  private async updateLinked(
    ctx: RequestContext,
    id: string,
    write: TaskWrite,
    refused: TaskOutcome,
  ): Promise<JsonReply> {
    const patch = write.patch ?? {};
    const stored = JSON.parse(refused.json ?? '{}') as { folder_id: string | null };
    const folder = (patch['folder_id'] as string | null | undefined) ?? stored.folder_id;
    return this.db.tx(async (tx) => {
      // The tree comes before rows and counters.
      if (folder) await this.tasks.shareTree(tx, ctx, folder);
      // Their counters are locked together with those of the notes' people, hence also of whoever joins by this write.
      const joining = [
        ...((patch['assignee_ids'] as string[] | undefined) ?? []),
        ...(folder ? await this.tasks.folderReaders(tx, ctx, folder) : []),
      ];
      await this.links.change(tx, ctx, [id], true, patch['title'] as string, joining);
      this.outbox.notice(tx);
      const seenTo = { ...write, linksSeenTo: true };
      let result = await this.tasks.update(tx, ctx, id, seenTo);
      if (result.outcome === 'replan') {
        result = await this.tasks.update(tx, ctx, id, { ...seenTo, ...planned(result) });
      }
      return this.answers.reply(tx, ctx, id, result);
    });
  }
}

/** The next occurrence of a repeating task, from what a write said it depends on. */
function planned({ revision, json }: TaskOutcome): Pick<TaskWrite, 'next' | 'plannedAt'> {
  const basis = JSON.parse(json ?? '{}') as RepeatBasis;
  const { rrule, from, start, date, time_zone: timeZone, folder_id } = basis;
  const dueAt = basis.due_at === null ? null : new Date(basis.due_at);
  const next = nextOccurrence({ rrule, from, start, timeZone, date, dueAt }, new Date());
  if (!next) return { next: null, plannedAt: revision };
  const due_at = next.dueAt?.toISOString() ?? null;
  return { next: { id: uuidv7(), date: next.date, due_at, folder_id }, plannedAt: revision };
}
