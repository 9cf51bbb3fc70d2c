import { Injectable } from '@nestjs/common';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type CodePurpose, GuestLimitRow } from './guest.entity.js';
import { CODE_ATTEMPTS, CODE_SECONDS, type WindowLimit } from './model/code-rules.js';
import type { InviteState } from './model/guest-rules.js';

/** An attempt to prove an address by a code. */
export interface CodeAttempt {
  /** Of the code that was sent; null: none was, or it was used. */
  code_hmac: Buffer | null;
  /** With this one. */
  attempts: number;
}

const storeCode = workspace.statement<never>(
  'guests.store_code',
  `INSERT INTO guest_otps (tenant_id, invite_id, email, purpose, code_hmac, expires_at)
   VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => ${CODE_SECONDS}))
   ON CONFLICT (tenant_id, invite_id, email, purpose) DO UPDATE
      SET code_hmac = excluded.code_hmac, expires_at = excluded.expires_at, attempts = 0, consumed_at = NULL`,
);

// Counts before the comparison, also for addresses without a code.
const countAttempt = workspace.statement<CodeAttempt>(
  'guests.count_attempt',
  `INSERT INTO guest_otps AS stored (tenant_id, invite_id, email, purpose, attempts, expires_at)
   VALUES ($1, $2, $3, $4, 1, now() + make_interval(secs => ${CODE_SECONDS}))
   ON CONFLICT (tenant_id, invite_id, email, purpose) DO UPDATE
      SET attempts = CASE WHEN stored.expires_at <= now() THEN 1 ELSE stored.attempts + 1 END,
          code_hmac = CASE WHEN stored.expires_at > now() THEN stored.code_hmac END,
          expires_at = CASE WHEN stored.expires_at <= now() THEN excluded.expires_at ELSE stored.expires_at END
    WHERE stored.attempts < ${CODE_ATTEMPTS} OR stored.expires_at <= now()
   RETURNING code_hmac, attempts`,
);

const OF_CODE = `tenant_id = $1 AND invite_id = $2 AND email = $3 AND purpose = $4`;

const lockSeconds = workspace.statement<{ wait: number }>(
  'guests.lock_seconds',
  `SELECT extract(epoch FROM expires_at - now())::float8 AS wait FROM guest_otps WHERE ${OF_CODE}`,
);

const spendCode = workspace.statement<never>(
  'guests.spend_code',
  `UPDATE guest_otps SET code_hmac = NULL, consumed_at = now() WHERE ${OF_CODE}`,
);

const OF_LIMITS = `tenant_id = $1 AND (scope, subject) IN (SELECT * FROM unnest($2::text[], $3::bytea[]))`;

// Until the commit, in the order of their scopes.
const lockLimits = workspace.statement<never>(
  'guests.lock_limits',
  `SELECT FROM guest_limits WHERE ${OF_LIMITS} ORDER BY scope FOR UPDATE`,
);

// The time after the locks: the transaction may have waited for them.
const limits = workspace.statement<{ scope: string; times: Date[]; now: Date }>(
  'guests.limits',
  `SELECT scope, times, clock_timestamp() AS now FROM guest_limits WHERE ${OF_LIMITS}`,
);

/** Rows of codes, and of the limits of requests for them. */
@Injectable()
export class GuestCodesRepository {
  /** @param hash of the code; null: the address does not fit */
  async storeCode(
    tx: Tx,
    { tenant_id, id }: InviteState,
    purpose: CodePurpose,
    email: string,
    hash: Buffer | null,
  ): Promise<void> {
    await tx.query(storeCode, [tenant_id, id, email, purpose, hash]);
  }

  /** Counts an attempt. @returns null after too many */
  async countAttempt(
    tx: Tx,
    { tenant_id, id }: InviteState,
    purpose: CodePurpose,
    email: string,
  ): Promise<CodeAttempt | null> {
    return (await tx.query(countAttempt, [tenant_id, id, email, purpose]))[0] ?? null;
  }

  /** Seconds until the next attempt. */
  async lockSeconds(
    tx: Tx,
    { tenant_id, id }: InviteState,
    purpose: CodePurpose,
    email: string,
  ): Promise<number> {
    return (await tx.query(lockSeconds, [tenant_id, id, email, purpose]))[0]?.wait ?? 0;
  }

  async spendCode(
    tx: Tx,
    { tenant_id, id }: InviteState,
    purpose: CodePurpose,
    email: string,
  ): Promise<void> {
    await tx.query(spendCode, [tenant_id, id, email, purpose]);
  }

  /** Locks the times of the requests of each limit. @returns them, and the time after the locks */
  async lockLimits(
    tx: Tx,
    tenantId: string,
    wanted: readonly WindowLimit[],
  ): Promise<{ counted: Date[][]; now: Date }> {
    const rows = rowsOf(tx, GuestLimitRow);
    for (const { scope, subject } of wanted) await rows.insert({ tenant_id: tenantId, scope, subject });
    const values = [tenantId, wanted.map(({ scope }) => scope), wanted.map(({ subject }) => subject)];
    await tx.query(lockLimits, values);
    const locked = await tx.query(limits, values);
    const counted = wanted.map(({ scope }) => locked.find((row) => row.scope === scope)?.times ?? []);
    return { counted, now: locked[0]!.now };
  }

  async storeLimits(
    tx: Tx,
    tenantId: string,
    limits: readonly WindowLimit[],
    times: readonly Date[][],
    now: Date,
  ): Promise<void> {
    for (const [n, { scope, subject }] of limits.entries())
      await rowsOf(tx, GuestLimitRow).update(
        { tenant_id: tenantId, scope, subject },
        { times: times[n]!, used_at: now },
      );
  }
}
