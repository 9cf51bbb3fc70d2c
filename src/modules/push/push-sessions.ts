import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { AccessChanges } from '../../platform/context/access-changes.js';
import { outsideRequests } from '../../platform/current-work/current-work.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { SessionsApi } from '../identity/index.js';
import type { PushSubscription } from './push.schema.js';

/** Subscriptions that the job examines at once. */
const PAGE = 1_000;
const NIL = '00000000-0000-0000-0000-000000000000';

/** A subscription that ends with a session. */
interface BoundRow extends Pick<PushSubscription, 'tenant_id' | 'user_id' | 'id'> {
  session_id: string;
}

// Index push_subscriptions_bound.
const ofAccount = workspace.statement<BoundRow>(
  'push.subscriptions_of_account',
  `SELECT tenant_id, user_id, id, session_id FROM push_subscriptions WHERE user_id = $1 AND session_id IS NOT NULL`,
  { reach: 'account' },
);

const page = workspace.statement<BoundRow>(
  'push.bound_subscriptions',
  `SELECT tenant_id, user_id, id, session_id FROM push_subscriptions
    WHERE session_id IS NOT NULL AND (tenant_id, user_id, id) > ($1, $2, $3) ORDER BY tenant_id, user_id, id LIMIT $4`,
  { reach: 'cell' },
);

// A device that was subscribed in another session meanwhile stays.
const end = workspace.statement<never>(
  'push.end_subscriptions',
  `DELETE FROM push_subscriptions subscription
    USING unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) AS ended (tenant_id, user_id, id, session_id)
    WHERE subscription.tenant_id = ended.tenant_id AND subscription.user_id = ended.user_id AND subscription.id = ended.id
      AND subscription.session_id = ended.session_id`,
  { reach: 'cell' },
);

/** Ends subscriptions with their sessions: at once where a session is ended, and within an hour where its time is over. */
@Injectable()
export class PushSessions implements OnModuleInit {
  private readonly logger = new Logger(PushSessions.name);

  constructor(
    private readonly access: AccessChanges,
    private readonly sessions: SessionsApi,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.access.onChange(({ account_id: account }) => void outsideRequests(() => this.changed(account)));
    this.jobs.register({ name: 'push.end-subscriptions', everySeconds: 3_600, run: () => this.run() });
  }

  private async changed(account: string): Promise<void> {
    try {
      await this.endAmong(await this.db.query(ofAccount, [account]));
    } catch (error) {
      this.logger.warn({ err: error }, 'push subscriptions are ended by the next run of the job');
    }
  }

  async run(): Promise<void> {
    for (let [after, size] = [[NIL, NIL, NIL], PAGE]; size === PAGE;) {
      const rows = await this.db.query(page, [...after, PAGE]);
      await this.endAmong(rows);
      const last = rows.at(-1);
      size = rows.length;
      if (last) after = [last.tenant_id, last.user_id, last.id];
    }
  }

  private async endAmong(rows: readonly BoundRow[]): Promise<void> {
    if (rows.length === 0) return;
    const live = await this.sessions.liveOf([...new Set(rows.map(({ user_id }) => user_id))]);
    const ids = new Set(live.map(({ id }) => id));
    const ended = rows.filter(({ session_id }) => !ids.has(session_id));
    if (ended.length === 0) return;
    const columns = [
      ended.map((row) => row.tenant_id),
      ended.map((row) => row.user_id),
      ended.map((row) => row.id),
      ended.map((row) => row.session_id),
    ];
    await this.db.single((tx) => tx.query(end, columns));
  }
}
