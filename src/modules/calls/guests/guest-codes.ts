import { createHash, randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type ApiError, Errors } from '../../../platform/http/errors.js';
import { type NewToken, newToken, SecretBox } from '../../../platform/secrets/secret-box.js';
import type { CodeSentEnvelope, RequestCode } from './access/access.dto.js';
import { GuestLimits } from './guest-limits.js';
import { GuestErrors } from './guests.dto.js';
import { GuestsRepository } from './guests.repository.js';
import type { CodePurpose, GuestLimitRow } from './guests.schema.js';
import { GuestMails } from './mails/guest-mails.js';
import {
  checkCode,
  CODE_SECONDS,
  type CodeRow,
  countRequest,
  retryAfter,
  type WindowLimit,
} from './model/code-rules.js';
import { fitsInvite, type InviteState, type NewGuest, rejectFor } from './model/guest-rules.js';
import type { Visitor } from './model/visitor.js';

const storeCode = workspace.statement<never>(
  'guests.store_code',
  `INSERT INTO guest_otps (tenant_id, invite_id, email, purpose, code_hmac, expires_at)
   VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => ${CODE_SECONDS}))
   ON CONFLICT (tenant_id, invite_id, email, purpose) DO UPDATE
      SET code_hmac = excluded.code_hmac, expires_at = excluded.expires_at, attempts = 0, consumed_at = NULL`,
);

// An address without a code gets a row too. The update changes nothing: it locks the row.
const lockCode = workspace.statement<CodeRow>(
  'guests.lock_code',
  `INSERT INTO guest_otps AS stored (tenant_id, invite_id, email, purpose, expires_at)
   VALUES ($1, $2, $3, $4, now() + make_interval(secs => ${CODE_SECONDS}))
   ON CONFLICT (tenant_id, invite_id, email, purpose) DO UPDATE SET attempts = stored.attempts
   RETURNING code_hmac, attempts, expires_at, consumed_at`,
);

const storeAttempt = workspace.statement<never>(
  'guests.store_attempt',
  `UPDATE guest_otps SET code_hmac = $5, attempts = $6, expires_at = $7, consumed_at = $8
    WHERE tenant_id = $1 AND invite_id = $2 AND email = $3 AND purpose = $4`,
);

const addLimits = workspace.statement<never>(
  'guests.add_limits',
  `INSERT INTO guest_limits (tenant_id, scope, subject)
   SELECT $1, given.scope, given.subject FROM unnest($2::text[], $3::bytea[]) AS given (scope, subject)
    ORDER BY given.scope ON CONFLICT DO NOTHING`,
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

// $4: the times of each limit, an array as text: PostgreSQL has no arrays of arrays of different lengths.
const storeLimits = workspace.statement<never>(
  'guests.store_limits',
  `UPDATE guest_limits counted SET times = given.times::timestamptz[], used_at = $5
     FROM unnest($2::text[], $3::bytea[], $4::text[]) AS given (scope, subject, times)
    WHERE counted.tenant_id = $1 AND counted.scope = given.scope AND counted.subject = given.subject`,
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

  /** The code of an address, locked. */
  async lockCode(
    tx: Tx,
    { tenant_id, id }: InviteState,
    purpose: CodePurpose,
    email: string,
  ): Promise<CodeRow> {
    return (await tx.query(lockCode, [tenant_id, id, email, purpose]))[0]!;
  }

  async storeAttempt(
    tx: Tx,
    { tenant_id, id }: InviteState,
    purpose: CodePurpose,
    email: string,
    { code_hmac, attempts, expires_at, consumed_at }: CodeRow,
  ): Promise<void> {
    const values = [tenant_id, id, email, purpose, code_hmac, attempts, expires_at, consumed_at];
    await tx.query(storeAttempt, values);
  }

  /** Locks the times of the requests of each limit. @returns them, and the time after the locks */
  async lockLimits(
    tx: Tx,
    tenantId: string,
    wanted: readonly WindowLimit[],
  ): Promise<{ counted: Date[][]; now: Date }> {
    const values = [tenantId, wanted.map(({ scope }) => scope), wanted.map(({ subject }) => subject)];
    await tx.query(addLimits, values);
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
    await tx.query(storeLimits, [
      tenantId,
      limits.map(({ scope }) => scope),
      limits.map(({ subject }) => subject),
      times.map((each) => `{${each.map((time) => time.toISOString()).join()}}`),
      now,
    ]);
  }
}

const DAY = 86_400;
/** Maximum number of mails with codes that a workspace sends in a day. */
const MAILS_PER_DAY = 200;
const RESEND_SECONDS = 60;

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
      const facts = await this.guests.claimFacts(tx, invite, email, address);
      const fits = fitsInvite(invite, email, facts, this);
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

  /** Compares a code. @returns the rejection, with which the transaction must commit */
  async check(
    tx: Tx,
    invite: InviteState,
    purpose: CodePurpose,
    email: string,
    codes: readonly Buffer[],
  ): Promise<ApiError | null> {
    const { error, row } = checkCode(
      await this.codes.lockCode(tx, invite, purpose, email),
      codes,
      invite.now,
    );
    if (row) await this.codes.storeAttempt(tx, invite, purpose, email, row);
    return error;
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
