import { createHash, randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { ApiError } from '../../../platform/http/api-error.js';
import { Errors } from '../../../platform/http/errors.js';
import { SecretBox } from '../../../platform/secrets/secret-box.js';
import { newToken, type NewToken } from '../../../platform/secrets/workspace-token.js';
import type { RequestCode } from './access/access.dto.js';
import type { CodeSentEnvelope } from './access/access.response.js';
import type { CodePurpose } from './guest.entity.js';
import { GuestLimits } from './guest-limits.js';
import { GuestErrors } from './guests.errors.js';
import { GuestCodesRepository } from './guest-codes.repository.js';
import { GuestsRepository } from './guests.repository.js';
import { CODE_ATTEMPTS, CODE_SECONDS, countRequest, type WindowLimit } from './model/code-rules.js';
import { fitsInvite, type InviteState, rejectFor } from './model/guest-rules.js';
import { GuestMails } from './mails/guest-mails.js';
import type { Visitor } from './model/visitor.js';

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

  /** @returns seconds until a retry; 0: the request is counted */
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
