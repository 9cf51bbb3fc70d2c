import { createHash, randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import { NOW, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type ApiError, Errors } from '../../../platform/http/errors.js';
import { type NewToken, newToken, SecretBox } from '../../../platform/secrets/secret-box.js';
import type { CodeSentEnvelope, RequestCode } from './access/access.dto.js';
import { GuestLimits } from './guest-limits.js';
import { GuestErrors } from './guests.dto.js';
import { GuestsRepository } from './guests.repository.js';
import { type CodePurpose, GuestLimitRow, GuestOtp } from './guests.schema.js';
import { GuestMails } from './mails/guest-mails.js';
import {
  CODE_ATTEMPTS,
  CODE_SECONDS,
  countRequest,
  fitsInvite,
  type InviteState,
  rejectFor,
  type WindowLimit,
} from './model/guest-rules.js';
import type { Visitor } from './model/visitor.js';

/** An attempt to prove an address by a code: the code that was sent, and the number of attempts, this one included. */
type CodeAttempt = Pick<GuestOtp, 'code_hmac' | 'attempts'>;

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

const OF_LIMITS = `tenant_id = $1 AND (scope, subject) IN (SELECT * FROM unnest($2::text[], $3::bytea[]))`;

// The locks last until the commit. Rows are locked in the order of their scopes.
const lockLimits = workspace.statement<never>(
  'guests.lock_limits',
  `SELECT FROM guest_limits WHERE ${OF_LIMITS} ORDER BY scope FOR UPDATE`,
);

// The time after the locks: the transaction may have waited for them.
const limits = workspace.statement<Pick<GuestLimitRow, 'scope' | 'times'> & { now: Date }>(
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
    await rowsOf(tx, GuestOtp).update(
      { tenant_id, invite_id: id, email, purpose },
      { code_hmac: null, consumed_at: NOW },
    );
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

const DAY = 86_400;
/** Maximum number of mails with codes that a workspace sends in a day. */
const MAILS_PER_DAY = 200;
const RESEND_SECONDS = 60;

/** Fields of a new guest. */
export interface NewGuest {
  id: string;
  name: string;
  email: string | null;
  /** Hashes of the code by each key; null without a code. */
  codes: Buffer[] | null;
  token_hash: Buffer;
  session_hash: Buffer;
  addressHash: Buffer;
  userAgent: string | null;
}

/** Codes that prove the address of a guest. */
@Injectable()
export class GuestCodes {
  constructor(
    private readonly guests: GuestsRepository,
    private readonly codes: GuestCodesRepository,
    private readonly limits: GuestLimits,
    private readonly mails: GuestMails,
    private readonly box: SecretBox,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  /**
   * Sends a code to an address that fits the invite. Other addresses get the same response after the same work.
   * @throws ApiError 403 `call_locked`, 404, 410, 429
   */
  async request(
    visitor: Visitor,
    purpose: CodePurpose,
    { email, locale }: RequestCode,
  ): Promise<CodeSentEnvelope> {
    const code = String(randomInt(0, 1_000_000)).padStart(6, '0');
    const hash = Buffer.from(this.box.hashes(purpose, this.owner(visitor, email), code)[0]);
    const address = this.limits.addressHash(visitor);
    await this.db.tx(async (tx) => {
      const invite = await this.guests.invite(tx, visitor);
      if (!invite) throw GuestErrors.inviteNotFound.with();
      const rejection = rejectFor(invite, purpose === 'join' ? 'guest' : 'viewer');
      if (rejection) throw rejection;
      if (invite.kind === 'link' && invite.state === 'exhausted') throw GuestErrors.inviteExhausted.with();
      const subject = subjectOf(invite, purpose, email);
      const wait = await this.take(tx, invite.tenant_id, requestLimits(address, subject));
      if (wait > 0) throw Errors.tooManyRequests.with(retryAfter(wait));
      const fits = fitsInvite(invite, email, await this.guests.addressFacts(tx, invite, email), this.isOpen);
      const isSent = (await this.take(tx, invite.tenant_id, [mailLimit(fits)])) === 0;
      await this.codes.storeCode(tx, invite, purpose, email, isSent ? hash : null);
      const { title } = invite;
      await this.mails.sendCode(
        tx,
        visitor.tenantId,
        { email, locale },
        { code: isSent ? code : null, title },
      );
    });
    return { sent: true, expires_in: CODE_SECONDS, resend_after: RESEND_SECONDS };
  }

  /** The fields of a new guest, with a new token and a new session. */
  newGuest(
    visitor: Visitor,
    purpose: CodePurpose,
    { name, email, code }: { name: string; email?: string; code?: string },
  ): { guest: NewGuest; token: NewToken; session: NewToken } {
    const [token, session] = [newToken(visitor.tenantId), newToken(visitor.tenantId)];
    const codes =
      email === undefined || code === undefined
        ? null
        : this.box.hashes(purpose, this.owner(visitor, email), code).map((hash) => Buffer.from(hash));
    const guest = {
      id: uuidv7(),
      name,
      email: email ?? null,
      codes,
      token_hash: token.hash,
      session_hash: session.hash,
      addressHash: this.limits.addressHash(visitor),
      userAgent: visitor.userAgent,
    };
    return { guest, token, session };
  }

  /**
   * Compares a code. The attempt is counted before the comparison, also for addresses without a code. A correct code is spent.
   * @returns the rejection, with which the transaction must commit
   */
  async check(
    tx: Tx,
    invite: InviteState,
    purpose: CodePurpose,
    email: string,
    codes: readonly Buffer[],
  ): Promise<ApiError | null> {
    const attempt = await this.codes.countAttempt(tx, invite, purpose, email);
    if (!attempt)
      return GuestErrors.codeLocked.with(
        retryAfter(await this.codes.lockSeconds(tx, invite, purpose, email)),
      );
    const { code_hmac: stored, attempts } = attempt;
    if (stored === null || !codes.some((code) => code.equals(stored)))
      return GuestErrors.codeInvalid.with({ body: { attempts_left: CODE_ATTEMPTS - attempts } });
    await this.codes.spendCode(tx, invite, purpose, email);
    return null;
  }

  /** Whether guests of any domain are allowed that the workspace has not denied. */
  get isOpen(): boolean {
    return this.config.GUEST_DOMAINS === 'open';
  }

  /** @returns seconds until a retry; 0 means that the request is counted */
  private async take(tx: Tx, tenantId: string, limits: readonly WindowLimit[]): Promise<number> {
    const { counted, now } = await this.codes.lockLimits(tx, tenantId, limits);
    const { wait, times } = countRequest(limits, counted, now);
    // Rejected requests write too, so that they take the same time.
    await this.codes.storeLimits(tx, tenantId, limits, times, now);
    return wait;
  }

  private owner({ tenantId }: Visitor, email: string): string {
    return `${tenantId} ${email}`;
  }
}

/** Limits of requests for codes, in the order of their scopes. @param address hash of the network */
const requestLimits = (address: Buffer, subject: Buffer): WindowLimit[] => [
  { scope: 'code_address', subject: address, max: 20, seconds: 3_600 },
  { scope: 'code_day', subject, max: 10, seconds: DAY },
  { scope: 'code_quarter', subject, max: 3, seconds: 900 },
];

/** @param fits whether the address fits: no mail is sent to another one, after the same work */
const mailLimit = (fits: boolean): WindowLimit => ({
  scope: 'code_mails',
  subject: Buffer.alloc(0),
  max: fits ? MAILS_PER_DAY : 0,
  seconds: DAY,
});

/** The address at an invite, without revealing it. */
const subjectOf = ({ id }: InviteState, purpose: CodePurpose, email: string): Buffer =>
  createHash('sha256').update(`${id} ${purpose} ${email}`).digest();

const retryAfter = (seconds: number) => ({
  headers: { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) },
});
