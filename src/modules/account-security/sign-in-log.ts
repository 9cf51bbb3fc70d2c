import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Counter } from 'prom-client';
import { Audit } from '../../platform/audit/audit.js';
import { Db } from '../../platform/database/db.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { TenantsApi } from '../tenants/index.js';

/** Workspaces of one account that receive an entry. */
const MAX_WORKSPACES = 20;

/** A failed attempt to sign in. */
export interface FailedSignIn {
  /** Null: no account has the address. The address itself is not stored: users type passwords into the field. */
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
  async failed({ accountId, factor, ip, lock }: FailedSignIn): Promise<void> {
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
