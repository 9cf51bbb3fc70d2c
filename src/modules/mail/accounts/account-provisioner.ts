import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { ApiError } from '../../../platform/http/errors.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { MEMBER_EMAIL_CHANGED, MEMBERS_PROVISIONED, TenantsApi } from '../../tenants/index.js';
import { MailErrors } from '../mail.response.js';
import { MailAccounts } from './mail-accounts.js';
import type { MailPendingAccount } from '../mail.schema.js';

/** The job retries failures and handles members that an earlier version added. An event starts it for new members. */
const INTERVAL_SECONDS = 60;
const JOB = 'provision-mail-accounts';
const ACCOUNTS_PENDING = 'mail.accounts_pending';
/** Accounts per run. A shutdown waits for the end of the run. */
const BATCH = 50;

const enqueue = workspace.statement<never>(
  'mail.pending_enqueue',
  `INSERT INTO mail_pending_accounts (tenant_id, user_id)
   SELECT $1, user_id FROM unnest($2::uuid[]) AS member (user_id)
    WHERE NOT EXISTS (
      SELECT FROM mail_accounts AS account WHERE account.tenant_id = $1 AND account.user_id = member.user_id)
   ON CONFLICT DO NOTHING`,
);
/** A run that has read the row already does not remove it, since it may have read the former address. */
const enqueueChange = workspace.statement<never>(
  'mail.pending_enqueue_change',
  `INSERT INTO mail_pending_accounts (tenant_id, user_id) VALUES ($1, $2)
   ON CONFLICT (tenant_id, user_id) DO UPDATE SET retry_at = now()`,
);
const due = workspace.statement<MailPendingAccount>(
  'mail.pending_due',
  `SELECT tenant_id, user_id, retry_at FROM mail_pending_accounts WHERE retry_at <= now() ORDER BY retry_at LIMIT ${BATCH}`,
  { reach: 'cell' },
);
const remove = workspace.statement<never>(
  'mail.pending_remove',
  `DELETE FROM mail_pending_accounts WHERE tenant_id = $1 AND user_id = $2 AND retry_at = $3`,
);
const postpone = workspace.statement<never>(
  'mail.pending_postpone',
  `UPDATE mail_pending_accounts SET retry_at = now() + interval '5 minutes'
    WHERE tenant_id = $1 AND user_id = $2 AND retry_at = $3`,
);

/**
 * Creates the mail accounts of new members, so that they can receive mail before they first open it, and gives the account of
 * a member whose address changes the new one.
 */
@Injectable()
export class AccountProvisioner implements OnModuleInit {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly accounts: MailAccounts,
    private readonly tenants: TenantsApi,
    private readonly hooks: TxHooks,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    if (this.config.MAIL_ACCOUNTS !== 'create') return;
    this.hooks.on(MEMBERS_PROVISIONED, async (tx, { tenantId, userIds }) => {
      await tx.query(enqueue, [tenantId, userIds]);
      await this.outbox.append(tx, { tenantId, type: ACCOUNTS_PENDING, payload: {} });
    });
    // The outbox row is that of the hook above, which a change of address runs too.
    this.hooks.on(MEMBER_EMAIL_CHANGED, async (tx, { tenantId, userId }) => {
      await tx.query(enqueueChange, [tenantId, userId]);
    });
    if (this.config.mailService === null) return;
    const run = () => this.run();
    // In the background: the events of other domains must not wait for many accounts.
    this.outbox.subscribe(ACCOUNTS_PENDING, 'mail-accounts', async () => this.jobs.trigger(JOB));
    this.jobs.register({ name: JOB, everySeconds: INTERVAL_SECONDS, queue: 'mail', run });
  }

  private async run(): Promise<void> {
    const members = await this.db.query(due, []);
    for (const { tenant_id: tenantId, user_id: userId, retry_at: retryAt } of members) {
      const next = await this.provision(tenantId, userId);
      await this.db.single((tx) => tx.query(next, [tenantId, userId, retryAt]));
    }
    if (members.length === BATCH) this.jobs.trigger(JOB);
  }

  private async provision(tenantId: string, userId: string): Promise<typeof remove> {
    try {
      // First, because a deactivated member gets no credential.
      await this.accounts.followAddress({ tenantId, userId });
      await this.accounts.credential({ tenantId, userId });
      return remove;
    } catch (error) {
      const isRefused = error instanceof ApiError && error.kind === MailErrors.accountRequired;
      // Without an active membership nothing is left to do. An address that is taken may become free.
      if (isRefused && (await this.tenants.profile(tenantId, userId)) === null) return remove;
      this.logger.warn({ err: error }, 'a mail account could not be created, will be retried');
      return postpone;
    }
  }
}
