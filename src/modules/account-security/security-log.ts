import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { v7 as uuidv7 } from 'uuid';
import { Audit } from '../../platform/audit/audit.js';
import type { AccountContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { Outbox } from '../../platform/events/outbox.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { TenantsApi } from '../tenants/index.js';

/** Security events of an account. The owner is notified of each, regardless of preferences. */
export type SecurityEventType =
  | 'security.new_browser'
  | 'security.password_changed'
  | 'security.email_changed'
  | 'security.second_factor_enabled'
  | 'security.second_factor_disabled'
  | 'security.second_factor_locked'
  | 'security.passkey_added'
  | 'security.passkey_removed'
  | 'security.recovery_code_used'
  | 'security.recovery_codes_renewed'
  | 'security.sessions_ended'
  | 'security.application_password_created'
  | 'security.application_password_deleted';

/** The account that acts or is affected. */
export type SecurityActor = Pick<AccountContext, 'tenantId' | 'userId'> &
  Partial<Pick<AccountContext, 'sessionId' | 'requestId' | 'ip'>>;

/** Writes security events to the audit log and, for notifications, to the outbox. */
@Injectable()
export class SecurityLog {
  constructor(
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly tenants: TenantsApi,
  ) {}

  /** @param data facts for the notification, without secrets */
  async record(
    tx: Tx,
    actor: SecurityActor,
    type: SecurityEventType,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    await this.recordOnly(tx, actor, type, data);
    // Notify in the workspace of the session, else in any workspace of the account.
    const tenantId = actor.tenantId ?? (await this.tenants.anyTenantOf(tx, actor.userId));
    if (tenantId === null) return;
    const payload = {
      user_id: actor.userId,
      session_id: actor.sessionId ?? null,
      ip: actor.ip ?? null,
      ...data,
    };
    await this.outbox.append(tx, { tenantId, type, payload });
  }

  /** Writes to the audit log only, for events without a notification. */
  async recordOnly(
    tx: Tx,
    actor: SecurityActor,
    action: string,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    await this.audit.record(tx, actor, { action, objectKind: 'user', objectId: actor.userId, data });
  }
}

/** Workspaces of one account that receive an entry. */
const MAX_WORKSPACES = 20;

/** A failed attempt to sign in. */
export interface FailedSignIn {
  /** Null means that no account has the address. The address itself is not stored: users type passwords into the field. */
  accountId: string | null;
  factor: 'password' | 'second_factor' | 'passkey' | 'application_password';
  ip: string | null;
  /** The scope of the lock that the failure caused; null: none. */
  lock: 'network' | 'address' | 'browser' | 'account' | null;
}

/** Writes failed sign-ins and locks to the audit log of each workspace of the account, where owners see them. */
@Injectable()
export class SignInLog {
  private readonly failures: Counter<'factor'>;
  private readonly lockouts: Counter<'scope'>;

  constructor(
    private readonly audit: Audit,
    private readonly tenants: TenantsApi,
    private readonly db: Db,
    { registry }: Metrics,
  ) {
    this.failures = new Counter({
      name: 'sign_in_failures_total',
      help: 'Failed sign-ins by the factor that failed: password, second_factor, passkey, application_password.',
      labelNames: ['factor'],
      registers: [registry],
    });
    this.lockouts = new Counter({
      name: 'sign_in_locks_total',
      help: 'Locks of the sign-in after repeated failures, by their scope: network, address, browser, account.',
      labelNames: ['scope'],
      registers: [registry],
    });
  }

  /** Does the same work for an unknown account, so that the time of the response does not reveal accounts. */
  async recordFailure({ accountId, factor, ip, lock }: FailedSignIn): Promise<void> {
    this.failures.inc({ factor });
    if (lock) this.lockouts.inc({ scope: lock });
    const tenants = await this.tenants.tenantIdsOf(accountId ?? uuidv7(), MAX_WORKSPACES);
    await this.db.tx(async (tx) => {
      for (const tenantId of tenants.length > 0 ? tenants : [null]) {
        const actor = { tenantId, userId: null, ip };
        const object = { objectKind: 'user', objectId: accountId, data: { factor } };
        await this.audit.record(tx, actor, { action: 'identity.sign_in.failed', ...object });
        if (lock)
          await this.audit.record(tx, actor, {
            action: 'identity.sign_in.locked',
            ...object,
            data: { factor, scope: lock },
          });
      }
    });
  }
}
