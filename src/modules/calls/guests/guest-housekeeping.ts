import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { ApprovalChanges } from './changes/approval-changes.js';

const BATCH = 500;
const TIME_OUT_SECONDS = 30;
const CLEAN_SECONDS = 3_600;
/** Days after the end of an invite when it is deleted with its guests. */
const KEEP_DAYS = 90;

const timeOut = workspace.statement<{ tenant_id: string; id: string; was_waiting: boolean }>(
  'guests.time_out',
  `SELECT tenant_id, id, was_waiting FROM guest_time_out($1)`,
  { reach: 'cell' },
);

const forgetCodes = workspace.statement<never>(
  'guests.forget_codes',
  `DELETE FROM guest_otps WHERE expires_at < now() - interval '1 day'`,
  { reach: 'cell' },
);

const forgetLimits = workspace.statement<never>(
  'guests.forget_limits',
  `DELETE FROM guest_limits WHERE used_at < now() - interval '25 hours'`,
  { reach: 'cell' },
);

const forgetInvites = workspace.statement<never>(
  'guests.forget_invites',
  `DELETE FROM external_invites WHERE expires_at < now() - make_interval(days => $1)`,
  { reach: 'cell' },
);

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
    this.jobs.register({ name: 'guests.clean', everySeconds: CLEAN_SECONDS, run: () => this.clean() });
  }

  /** Waiting guests leave the queue after 10 minutes without a request, others their session after 15 idle minutes. */
  async timeOut(): Promise<void> {
    for (;;) {
      const ended = await this.db.single((tx) => tx.query(timeOut, [BATCH]));
      for (const { tenant_id, id, was_waiting } of ended)
        if (was_waiting) this.approvals.changed(tenant_id, id);
      if (ended.length < BATCH) return;
    }
  }

  async clean(): Promise<void> {
    await this.db.single((tx) => tx.query(forgetCodes, []));
    await this.db.single((tx) => tx.query(forgetLimits, []));
    await this.db.single((tx) => tx.query(forgetInvites, [KEEP_DAYS]));
  }
}
