import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Audit, operator } from '../../../platform/audit/audit.js';
import { Db } from '../../../platform/database/db.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import {
  ERASED_MEMBER_JOINING,
  MEMBERSHIP_CHANGING,
  TenantErrors,
  TenantPolicies,
  TenantsApi,
} from '../../tenants/index.js';
import { PersonalErasureWorker } from './personal-erasure.worker.js';
import { type ErasureRow, PersonalErasuresRepository } from './personal-erasures.repository.js';

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
    if (!now) return this.erasures.of(userId);
    const ids = new Set(wanted.map(({ tenant_id: id }) => id));
    for (;;) {
      // After the end of another process and its lease, this process continues the erasure.
      await this.worker.runDue();
      const erasures = await this.erasures.of(userId);
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
    const { erase_after_days } = await this.policies.of(tenantId);
    return new Date(ended.getTime() + (erase_after_days ?? DEFAULT_GRACE_DAYS) * DAY_MS);
  }
}
