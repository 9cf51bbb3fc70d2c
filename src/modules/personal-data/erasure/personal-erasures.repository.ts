import { Injectable } from '@nestjs/common';
import type { ObjectLiteral } from 'typeorm';
import { Db } from '../../../platform/database/db.js';
import { type ColumnValues, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { DataOwner } from '../../../platform/personal-data/personal-data.js';
import { PersonalErasure } from '../personal-data.schema.js';

/** An erasure that this process runs. */
export interface ClaimedErasure extends DataOwner {
  leaseId: string;
  /** Including this one. */
  attempts: number;
  /** Names of the sources whose data are erased. */
  steps: string[];
}

/** The state of an erasure. */
export type ErasureRow = Pick<PersonalErasure, 'tenant_id' | 'state' | 'due_at'>;

// A repeated request may set an earlier time. It does not postpone an erasure, and a running one keeps its lease.
const schedule = workspace.statement<Pick<PersonalErasure, 'user_id'>>(
  'personal_erasures.schedule',
  `INSERT INTO personal_erasures AS erasure (tenant_id, user_id, state, due_at)
   SELECT $1, user_id, 'pending', $3 FROM unnest($2::uuid[]) AS given (user_id) ORDER BY user_id
   ON CONFLICT (tenant_id, user_id) DO UPDATE SET due_at = excluded.due_at
    WHERE erasure.state = 'pending' AND erasure.due_at > excluded.due_at
   RETURNING user_id`,
);

// Index: personal_erasures_due.
const claim = workspace.statement<Pick<PersonalErasure, 'tenant_id' | 'user_id' | 'attempts' | 'steps'>>(
  'personal_erasures.claim',
  `UPDATE personal_erasures
      SET state = 'running', lease_id = $1, due_at = now() + make_interval(secs => $2), attempts = attempts + 1
    WHERE (tenant_id, user_id) IN (
      SELECT tenant_id, user_id FROM personal_erasures WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING tenant_id, user_id, attempts, steps`,
  { reach: 'cell' },
);

// Index: personal_erasures_due.
const failing = workspace.statement<{ count: number }>(
  'personal_erasures.failing',
  `SELECT count(*)::int AS count FROM personal_erasures WHERE due_at IS NOT NULL AND attempts >= $1`,
  { reach: 'cell' },
);

// Index: personal_erasures_user.
const of = workspace.statement<ErasureRow>(
  'personal_erasures.of',
  `SELECT tenant_id, state, due_at FROM personal_erasures WHERE user_id = $1 ORDER BY tenant_id`,
  { reach: 'account' },
);

const AFTER_SECONDS = () => 'now() + make_interval(secs => :seconds)';

/** The row of an erasure, while this process holds its lease. */
const held = ({ tenantId, userId, leaseId }: ClaimedErasure) =>
  ({ tenant_id: tenantId, user_id: userId, lease_id: leaseId, state: 'running' }) as const;

/** SQL of erasures. */
@Injectable()
export class PersonalErasuresRepository {
  constructor(private readonly db: Db) {}

  /** Schedules erasures, or sets an earlier time. @returns false when this changes none */
  async schedule(tx: Tx, tenantId: string, userIds: readonly string[], due: Date): Promise<boolean> {
    return (await tx.query(schedule, [tenantId, userIds, due])).length > 0;
  }

  /** Cancels an erasure that has not begun. */
  async cancel(tx: Tx, tenantId: string, userId: string): Promise<void> {
    await rowsOf(tx, PersonalErasure).delete({
      tenant_id: tenantId,
      user_id: userId,
      state: 'pending',
      attempts: 0,
    });
  }

  /** Deletes the record of a finished erasure, so that another one can follow. @returns false when the erasure is not finished */
  async forgetDone(tx: Tx, tenantId: string, userId: string): Promise<boolean> {
    await rowsOf(tx, PersonalErasure).delete({ tenant_id: tenantId, user_id: userId, state: 'done' });
    return (await rowsOf(tx, PersonalErasure).one({ tenant_id: tenantId, user_id: userId })) === null;
  }

  /** Takes an erasure that is due, for `leaseSeconds`. */
  async claim(leaseId: string, leaseSeconds: number): Promise<ClaimedErasure | undefined> {
    const [row] = await this.db.single((tx) => tx.query(claim, [leaseId, leaseSeconds]));
    if (!row) return undefined;
    const { tenant_id: tenantId, user_id: userId, attempts, steps } = row;
    return { tenantId, userId, attempts, steps, leaseId };
  }

  /** @returns false when this process has lost the erasure */
  async renew(run: ClaimedErasure, seconds: number): Promise<boolean> {
    return this.db.tx((tx) => this.write(tx, run, { due_at: AFTER_SECONDS }, { seconds }));
  }

  async finishStep(run: ClaimedErasure, step: string): Promise<void> {
    await this.db.tx((tx) => this.write(tx, run, { steps: () => 'array_append(steps, :step)' }, { step }));
  }

  /** Releases the erasure. It continues after `seconds`. */
  async postpone(run: ClaimedErasure, seconds: number): Promise<void> {
    const values = { state: 'pending', lease_id: null, due_at: AFTER_SECONDS } as const;
    await this.db.tx((tx) => this.write(tx, run, values, { seconds }));
  }

  /** @returns false when this process has lost the erasure */
  async finish(tx: Tx, run: ClaimedErasure): Promise<boolean> {
    return this.write(tx, run, { state: 'done', lease_id: null, due_at: null, finished_at: () => 'now()' });
  }

  /** Removes the erasure of a member who is active again. */
  async drop(tx: Tx, run: ClaimedErasure): Promise<void> {
    await rowsOf(tx, PersonalErasure).delete(held(run));
  }

  /** Number of unfinished erasures, in all workspaces, with at least so many attempts. */
  async countFailing(attempts: number): Promise<number> {
    return (await this.db.query(failing, [attempts]))[0]!.count;
  }

  /** The erasures of a user in all workspaces. */
  async listOfUser(userId: string): Promise<ErasureRow[]> {
    return this.db.query(of, [userId]);
  }

  private async write(
    tx: Tx,
    run: ClaimedErasure,
    values: ColumnValues<PersonalErasure>,
    parameters?: ObjectLiteral,
  ): Promise<boolean> {
    return (await rowsOf(tx, PersonalErasure).update(held(run), values, parameters)).length > 0;
  }
}
