import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import { ApprovalChanges } from './changes/approval-changes.js';
import { PLACE_SECONDS } from './model/guest-rules.js';
import { IS_CONNECTED } from './model/visitor.js';
import type { Guest } from './guests.schema.js';

const BATCH = 500;
const TIME_OUT_SECONDS = 30;

/** Waiting guests after 10 minutes without a request, other guests after 15 minutes, viewers when their place becomes free. */
const timeOut = workspace.statement<Pick<Guest, 'tenant_id' | 'id'> & { was_waiting: boolean }>(
  'guests.time_out',
  `UPDATE guests stored
      SET updated_at = now(), state = CASE WHEN due.state = 'waiting' THEN 'expired' ELSE 'left' END::guest_state
     FROM (SELECT guest.tenant_id, guest.id, guest.state FROM guests guest
            WHERE guest.state IN ('waiting', 'admitted', 'in_session') AND guest.active_at < now() - make_interval(secs => ${PLACE_SECONDS})
              AND CASE WHEN guest.state = 'waiting' THEN guest.active_at < now() - interval '10 minutes'
                       WHEN guest.role = 'guest' THEN guest.active_at < now() - interval '15 minutes'
                       ELSE guest.state = 'in_session' END
              AND NOT ${IS_CONNECTED}
            ORDER BY guest.active_at LIMIT $1 FOR UPDATE SKIP LOCKED) due
    WHERE stored.tenant_id = due.tenant_id AND stored.id = due.id
   RETURNING stored.tenant_id, stored.id, due.state = 'waiting' AS was_waiting`,
  { reach: 'cell' },
);

const sweepOf = (name: string, table: string, condition: string): Sweep =>
  workspace.statement(name, deletion(table, condition), { reach: 'cell' });

/** Expired rows, by the name of the job that deletes them. The guests of an invite are deleted with it. */
const EXPIRED: Record<string, Sweep> = {
  'guests.clean-codes': sweepOf('guests.forget_codes', 'guest_otps', `expires_at < now() - interval '1 day'`),
  'guests.clean-limits': sweepOf(
    'guests.forget_limits',
    'guest_limits',
    `used_at < now() - interval '25 hours'`,
  ),
  'guests.clean-invites': sweepOf(
    'guests.forget_invites',
    'external_invites',
    `expires_at < now() - interval '90 days'`,
  ),
};

/** Ends abandoned sessions of guests, and deletes data that is no longer needed. */
@Injectable()
export class GuestHousekeeping implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
    private readonly approvals: ApprovalChanges,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'guests.time-out',
      everySeconds: TIME_OUT_SECONDS,
      run: () => this.timeOut(),
    });
    for (const [name, deletes] of Object.entries(EXPIRED))
      this.jobs.register({ name, everySeconds: 3_600, deletes });
  }

  /** Waiting guests leave the queue after 10 minutes without a request, others their session after 15 idle minutes. */
  async timeOut(): Promise<void> {
    for (;;) {
      const ended = await this.db.single((tx) => tx.query(timeOut, [BATCH]));
      for (const { tenant_id, id, was_waiting } of ended)
        if (was_waiting) this.approvals.reportChange(tenant_id, id);
      if (ended.length < BATCH) return;
    }
  }
}
