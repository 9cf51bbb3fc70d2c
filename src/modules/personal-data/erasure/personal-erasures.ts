import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Audit, operator } from '../../../platform/audit/audit.js';
import { Db } from '../../../platform/database/db.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { ItemFailures } from '../../../platform/jobs/sweep.js';
import { type ErasedMember, PersonalData } from '../../../platform/personal-data/personal-data.js';
import { IdentityApi } from '../../identity/index.js';
import {
  ERASED_MEMBER_JOINING,
  MEMBERSHIP_CHANGING,
  TenantErrors,
  TenantPolicies,
  TenantsApi,
} from '../../tenants/index.js';
import {
  type ClaimedErasure,
  type ErasureRow,
  PersonalErasuresRepository,
} from './personal-erasures.repository.js';

/** Duration of a lease, longer than any statement. Another process continues an erasure when its process has not renewed it. */
const LEASE_SECONDS = 300;
const PAUSE_SECONDS = 60;
/** Pause after many failures, e.g. while the mail service is down. */
const LONG_PAUSE_SECONDS = 3600;
const MANY_ATTEMPTS = 5;
/** Name of the last step, after the steps of the sources. */
const ACCOUNT = 'account of the user';

/**
 * Erases the data of former members, one member at a time in a process. Steps are idempotent, and finished ones are stored: an
 * erasure of a killed process continues in another one.
 */
@Injectable()
export class PersonalErasureWorker implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('PersonalData');
  private isStopped = false;
  private running: Promise<void> | undefined;

  constructor(
    private readonly erasures: PersonalErasuresRepository,
    private readonly policies: TenantPolicies,
    private readonly tenants: TenantsApi,
    private readonly identity: IdentityApi,
    private readonly data: PersonalData,
    private readonly jobs: PeriodicJobs,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'schedule-erasures', everySeconds: 3600, run: () => this.schedule() });
    // In the background, since other jobs must not wait for an erasure.
    this.jobs.register({ name: 'personal-erasures', everySeconds: 60, run: async () => void this.runDue() });
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  /**
   * Schedules the erasures that the policies of the workspaces in this cell require.
   * @throws Error while erasures fail or cannot be scheduled, so that the state of the job shows it to the operator
   */
  async schedule(): Promise<void> {
    const ended = await this.tenants.endedMembers(await this.policies.erasures());
    const failures = new ItemFailures(this.logger, 'the scheduling of the erasures of a workspace');
    for (const { tenant_id: tenantId, user_ids: members } of ended)
      await failures.guard({ tenantId }, () =>
        this.db.tx((tx) => this.erasures.schedule(tx, tenantId, members, new Date())),
      );
    const failing = await this.erasures.countFailing(MANY_ATTEMPTS);
    if (failing > 0)
      throw new Error(
        `${failing} erasures of personal data have failed ${MANY_ATTEMPTS} times or more; see the log`,
      );
    failures.report();
  }

  /** Runs all erasures that are due, also those that a run in progress does not see any more. */
  async runDue(): Promise<void> {
    await this.running;
    this.running ??= this.runAll().finally(() => (this.running = undefined));
    await this.running;
  }

  private async runAll(): Promise<void> {
    try {
      await this.db.inEachCell(() => this.runCell());
    } catch (error) {
      this.logger.warn({ err: error }, 'erasures were not run; a later run continues');
    }
  }

  private async runCell(): Promise<void> {
    while (!this.isStopped) {
      const run = await this.erasures.claim(randomUUID(), LEASE_SECONDS);
      if (!run) return;
      await this.run(run);
    }
  }

  private async run(run: ClaimedErasure): Promise<void> {
    const { tenantId, userId, attempts } = run;
    try {
      const member = await this.begin(run);
      if (member) await this.erase(run, member);
    } catch (error) {
      this.logger.warn({ err: error, tenantId, userId, attempts }, 'the erasure of personal data failed');
      await this.erasures.postpone(run, attempts < MANY_ATTEMPTS ? PAUSE_SECONDS : LONG_PAUSE_SECONDS);
    }
  }

  /** Marks the membership, which then cannot be activated. @returns null if it is active again: the erasure is cancelled */
  private async begin(run: ClaimedErasure): Promise<ErasedMember | null> {
    const { tenantId, userId } = run;
    return this.db.tx(async (tx) => {
      const email = await this.tenants.beginErasure(tx, tenantId, userId);
      if (email !== null) return { tenantId, userId, email };
      await this.erasures.drop(tx, run);
      return null;
    });
  }

  private async erase(run: ClaimedErasure, member: ErasedMember): Promise<void> {
    const step = async (name: string, work: () => Promise<void>): Promise<boolean> => {
      if (run.steps.includes(name)) return true;
      if (this.isStopped) await this.erasures.postpone(run, 0);
      else if (await this.erasures.renew(run, LEASE_SECONDS)) {
        await work();
        await this.erasures.finishStep(run, name);
        return true;
      }
      return false;
    };
    for (const source of this.data.erasureOrder)
      if (!(await step(source.name, () => source.erase(member, this.db)))) return;
    if (!(await step(ACCOUNT, () => this.eraseAccount(member.userId)))) return;
    const { tenantId, userId } = member;
    await this.db.tx(async (tx) => {
      if (!(await this.erasures.finish(tx, run))) return;
      const entry = { action: 'personal_data.erased', objectKind: 'user', objectId: userId };
      await this.audit.record(tx, { tenantId, userId: null, origin: 'job' }, entry);
    });
  }

  /** Erases the account after the erasure in its last workspace. */
  private async eraseAccount(accountId: string): Promise<void> {
    const isLast = await this.db.tx(async (tx) => {
      // Serialises the check with the creation and the activation of another membership.
      await this.identity.lockAccount(tx, accountId);
      if (await this.tenants.hasUnerasedMembership(tx, accountId)) return false;
      if (await this.identity.eraseAccount(tx, accountId)) {
        const entry = { action: 'personal_data.account_erased', objectKind: 'user', objectId: accountId };
        await this.audit.record(tx, { tenantId: null, userId: null, origin: 'job' }, entry);
      }
      return true;
    });
    if (!isLast) return;
    for (const source of this.data.erasureOrder) await source.eraseAccount(accountId, this.db);
  }
}

/** Days between a request and the erasure in a workspace whose policy has no time. */
const DEFAULT_GRACE_DAYS = 30;
const DAY_MS = 86_400_000;
/** Interval between two reads of the state of an erasure that another process runs. */
const POLL_MS = 1_000;

/** Erasures of former members, for the operator. */
@Injectable()
export class PersonalErasures implements OnModuleInit {
  constructor(
    private readonly erasures: PersonalErasuresRepository,
    private readonly worker: PersonalErasureWorker,
    private readonly policies: TenantPolicies,
    private readonly tenants: TenantsApi,
    private readonly hooks: TxHooks,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.hooks.on(MEMBERSHIP_CHANGING, async (tx, { tenantId, userId, status }) => {
      if (status === 'active' && tenantId !== null) await this.erasures.cancel(tx, tenantId, userId);
    });
    this.hooks.on(ERASED_MEMBER_JOINING, async (tx, { tenantId, userId }) => {
      if (!(await this.erasures.forgetDone(tx, tenantId, userId))) throw TenantErrors.memberErased.with();
    });
  }

  /**
   * Schedules the erasure of a user whose memberships have ended, in each workspace after the grace time of its policy.
   * @param options.tenantId undefined: all workspaces
   * @param options.now without grace time: this method returns after the run of the erasure, also if another process runs it
   * @returns the erasures of the user; one that failed is pending @throws Error for an active membership
   */
  async request(
    userId: string,
    { tenantId, now }: { tenantId?: string | undefined; now: boolean },
  ): Promise<ErasureRow[]> {
    const memberships = await this.tenants.membershipsOf(userId);
    const wanted = memberships.filter((each) => tenantId === undefined || each.tenant_id === tenantId);
    if (wanted.length === 0) throw new Error('The account has no membership there.');
    if (wanted.some(({ status }) => status === 'active'))
      throw new Error('The account has an active membership: run user deactivate first.');
    for (const { tenant_id: id, deactivated_at: ended } of wanted)
      await this.schedule(id, userId, now ? new Date() : await this.endOfGrace(id, ended ?? new Date()));
    if (!now) return this.erasures.listOfUser(userId);
    const ids = new Set(wanted.map(({ tenant_id: id }) => id));
    for (;;) {
      // After the end of another process and its lease, this process continues the erasure.
      await this.worker.runDue();
      const erasures = await this.erasures.listOfUser(userId);
      if (!erasures.some(({ tenant_id: id, state }) => ids.has(id) && state === 'running')) return erasures;
      await delay(POLL_MS);
    }
  }

  private async schedule(tenantId: string, userId: string, due: Date): Promise<void> {
    await this.db.tx(async (tx) => {
      if (!(await this.erasures.schedule(tx, tenantId, [userId], due))) return;
      const entry = { action: 'personal_data.erasure_requested', objectKind: 'user', objectId: userId };
      await this.audit.record(tx, operator(tenantId), { ...entry, data: { due_at: due.toISOString() } });
    });
  }

  private async endOfGrace(tenantId: string, ended: Date): Promise<Date> {
    const { erase_after_days } = await this.policies.readPolicy(tenantId);
    return new Date(ended.getTime() + (erase_after_days ?? DEFAULT_GRACE_DAYS) * DAY_MS);
  }
}
