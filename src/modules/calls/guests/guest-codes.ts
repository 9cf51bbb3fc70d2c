import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import { SecretBox } from '../../../platform/secrets/secret-box.js';
import { GuestLimits } from './guest-limits.js';
import { GuestMails } from './mails/guest-mails.js';
import { rejectionOf } from './guests.errors.js';
import { GuestsRepository, type NewGuest } from './guests.repository.js';
import { newToken, type NewToken } from '../../../platform/secrets/workspace-token.js';
import type { RequestCode } from './access/access.dto.js';
import type { CodeSentEnvelope } from './access/access.response.js';
import type { Visitor } from './visitor.js';

/** Maximum number of mails with codes that a workspace sends in a day. */
const MAILS_PER_DAY = 200;
/** Lifetime of a code, in the function guest_code_request. */
const CODE_SECONDS = 600;
const RESEND_SECONDS = 60;

export type CodePurpose = 'join' | 'livestream';

/** Codes that prove the address of a guest. */
@Injectable()
export class GuestCodes {
  constructor(
    private readonly guests: GuestsRepository,
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
    const { isOpen } = this;
    await this.db.tx(async (tx) => {
      const request = { purpose, email, hash, address, isOpen, mails: MAILS_PER_DAY };
      const result = await this.guests.requestCode(tx, visitor, request);
      if (result.outcome !== 'ok') throw rejectionOf(result);
      const { fits, title } = result;
      await this.mails.sendCode(tx, visitor.tenantId, { email, locale }, { code: fits ? code : null, title });
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
        : this.box
            .hashes(purpose, this.owner(visitor, email), code)
            .map((hash) => Buffer.from(hash).toString('hex'));
    const guest = {
      id: uuidv7(),
      name,
      email: email ?? null,
      codes,
      token: token.hash.toString('hex'),
      session: session.hash.toString('hex'),
      address: this.limits.addressHash(visitor).toString('hex'),
      user_agent: visitor.userAgent,
    };
    return { guest, token, session };
  }

  /** Whether guests of any domain are allowed that the workspace has not denied. */
  get isOpen(): boolean {
    return this.config.GUEST_DOMAINS === 'open';
  }

  private owner({ tenantId }: Visitor, email: string): string {
    return `${tenantId} ${email}`;
  }
}
