import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { inBatches } from '../../../platform/jobs/sweep.js';
import { TaskRemovalRepository } from '../changes/task-removal.repository.js';
import { listEvents, type TaskRow, timestampText } from '../model/rules/task-row.js';
import {
  followedMoments,
  type Moments,
  nextReminder,
  passDue,
  recipientsOf,
  type TimedTask,
} from '../model/rules/task-times.js';

const BATCH = 200;

/** A locked task whose moments are computed. */
type ClockedTask = TimedTask &
  Moments &
  Pick<TaskRow, 'id' | 'creator_id' | 'assignee_ids' | 'revision'> & { tenant_id: string; now: Date };

const COLUMNS = `task.tenant_id, task.id, task.creator_id, task.assignee_ids, task.revision, task.status, task.date::text AS date,
          task.due_at, task.time_zone, task.reminders, task.deleted_at, task.overdue_at, task.next_due_at, task.due_stage,
          task.next_reminder_at, clock_timestamp() AS now`;

// Indexes tasks_reminder_due and tasks_due. Concurrent runs skip the tasks of each other.
const lockDue = (name: string, column: 'next_reminder_at' | 'next_due_at') =>
  workspace.statement<ClockedTask>(
    name,
    `SELECT ${COLUMNS} FROM tasks task WHERE task.${column} <= now()
      ORDER BY task.${column} LIMIT ${BATCH} FOR NO KEY UPDATE SKIP LOCKED`,
    { reach: 'cell' },
  );
const lockReminded = lockDue('tasks.lock_reminded', 'next_reminder_at');
const lockPassed = lockDue('tasks.lock_passed', 'next_due_at');

/** The place of a task whose date lies in the future in the order of these dates. */
interface ComingTask {
  tenant_id: string;
  id: string;
  next_due_at: string;
}

const START = ['-infinity', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'];

// Index tasks_due. Rules change before tasks of later years are due: a later run reads these.
const coming = workspace.statement<ComingTask>(
  'tasks.coming',
  `SELECT tenant_id, id, next_due_at::text AS next_due_at FROM tasks
    WHERE next_due_at > now() AND next_due_at < now() + interval '2 years' AND time_zone <> 'UTC'
      AND next_due_at >= $1::timestamptz AND (next_due_at, tenant_id, id) > ($1::timestamptz, $2::uuid, $3::uuid)
    ORDER BY next_due_at, tenant_id, id LIMIT $4`,
  { reach: 'cell' },
);
const lockComing = workspace.statement<ClockedTask>(
  'tasks.lock_coming',
  `SELECT ${COLUMNS} FROM tasks task
     JOIN unnest($1::uuid[], $2::uuid[]) AS named (tenant_id, id) ON task.tenant_id = named.tenant_id AND task.id = named.id
    WHERE task.next_due_at > now() ORDER BY task.id FOR NO KEY UPDATE OF task SKIP LOCKED`,
  { reach: 'cell' },
);

/** The next moments of a task, and its event; the other moments stay. */
interface ClockChange {
  moments: Partial<Moments>;
  event?: { id: string; type: string; payload: Record<string, unknown> };
}

// Each event occurs once, because the statement that appends it sets the next moment, in the database that has the task.
const move = workspace.statement<never>(
  'tasks.move_clock',
  `WITH changes AS (
     SELECT change.tenant_id, change.id, change.event, change.moments
       FROM jsonb_to_recordset($1) AS change (tenant_id uuid, id uuid, event jsonb, moments jsonb)),
   moved AS (
     UPDATE tasks task SET overdue_at = following.overdue_at, next_due_at = following.next_due_at,
            due_stage = following.due_stage, next_reminder_at = following.next_reminder_at
       FROM changes CROSS JOIN LATERAL jsonb_populate_record(NULL::tasks, changes.moments) following
      WHERE task.tenant_id = changes.tenant_id AND task.id = changes.id RETURNING task.tenant_id, task.id)
   INSERT INTO outbox (tenant_id, id, type, payload)
   SELECT changes.tenant_id, (changes.event->>'id')::uuid, changes.event->>'type', changes.event->'payload'
     FROM changes JOIN moved ON moved.tenant_id = changes.tenant_id AND moved.id = changes.id WHERE changes.event IS NOT NULL`,
  { reach: 'cell' },
);

/** Periodic work: reminders, due dates, changed rules of time zones, and the purge of the trash (TRASH_RETENTION_DAYS after deletion). */
@Injectable()
export class TaskClock implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly removal: TaskRemovalRepository,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'remind-of-tasks', everySeconds: 10, run: () => this.tick() });
    this.jobs.register({ name: 'follow-time-zones', everySeconds: 86_400, run: () => this.followZones() });
    this.jobs.register({ name: 'purge-trashed-tasks', everySeconds: 600, run: () => this.purge() });
  }

  /** Appends the events that are due. @returns their number */
  async tick(): Promise<number> {
    const reminded = await inBatches(BATCH, () => this.moveLocked(lockReminded, [], remind));
    return reminded + (await inBatches(BATCH, () => this.moveLocked(lockPassed, [], reportDue)));
  }

  /**
   * Computes the moments of coming tasks by the rules of this Node, which an update may have changed (adr/0065).
   * @returns the number of tasks that changed
   */
  async followZones(): Promise<number> {
    let total = 0;
    for (let after: readonly string[] = START; ;) {
      const tasks = await this.db.query(coming, [...after, BATCH]);
      const last = tasks.at(-1);
      if (!last) return total;
      const keys = [tasks.map(({ tenant_id }) => tenant_id), tasks.map(({ id }) => id)];
      total += await this.moveLocked(lockComing, keys, follow);
      after = [last.next_due_at, last.tenant_id, last.id];
    }
  }

  /** @returns the number of purged tasks */
  async purge(): Promise<number> {
    return inBatches(BATCH, () =>
      this.db.tx(async (tx) => {
        this.outbox.notice(tx);
        return this.removal.removeDue(tx, BATCH);
      }),
    );
  }

  /** Locks tasks, and stores their next moments and events. @returns the number of changes */
  private async moveLocked(
    lock: typeof lockReminded,
    values: readonly unknown[],
    changeOf: (task: ClockedTask) => ClockChange | null,
  ): Promise<number> {
    return this.db.tx(async (tx) => {
      const rows = (await tx.query(lock, values)).flatMap((task) => {
        const change = changeOf(task);
        return change === null ? [] : rowOf(task, change);
      });
      if (rows.length === 0) return 0;
      this.outbox.notice(tx);
      await tx.query(move, [JSON.stringify(rows)]);
      return rows.length;
    });
  }
}

const remind = (task: ClockedTask): ClockChange => ({
  moments: { next_reminder_at: nextReminder(task, task.next_reminder_at!) },
  event: eventOf(task, 'task.reminder', { remind_at: task.next_reminder_at!.toISOString() }),
});

function reportDue(task: ClockedTask): ClockChange {
  const { type, data, next } = passDue(task);
  return { moments: next, event: eventOf(task, type, data) };
}

function follow(task: ClockedTask): ClockChange | null {
  const moments = followedMoments(task, task.now);
  return moments && { moments };
}

const eventOf = (task: ClockedTask, type: string, data: Record<string, unknown>) =>
  listEvents(task, null, [{ type, data: { ...data, recipients: recipientsOf(task) } }])[0];

/** A change as the statement takes it. */
function rowOf(task: ClockedTask, { moments, event }: ClockChange) {
  const { tenant_id, id, overdue_at, next_due_at, due_stage, next_reminder_at } = { ...task, ...moments };
  return {
    tenant_id,
    id,
    event,
    moments: {
      overdue_at: timestampText(overdue_at),
      next_due_at: timestampText(next_due_at),
      due_stage,
      next_reminder_at: timestampText(next_reminder_at),
    },
  };
}
