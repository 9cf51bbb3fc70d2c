import { Injectable } from '@nestjs/common';
import { API_PREFIX, Config } from '../../config/config.js';
import { Db } from '../../platform/database/db.js';
import { SignInSessions } from '../identity/index.js';
import { AccountTokens } from './recovery/account-tokens.js';
import type { PasskeyOwner } from './two-factor/passkeys/passkeys.service.js';

const LINK_SECONDS = 900;

/**
 * Links to the page of passkeys, for clients whose own pages cannot use passkeys of this host. A link has the rights of the
 * session that requested it, and ends with that session.
 */
@Injectable()
export class PasskeyLinks {
  constructor(
    private readonly tokens: AccountTokens,
    private readonly sessions: SignInSessions,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  /** Replaces an earlier link of the account. */
  async create({ userId, sessionId }: PasskeyOwner): Promise<{ url: string; expiresIn: number }> {
    const token = await this.db.single((tx) =>
      this.tokens.create(tx, userId, 'passkeys', { seconds: LINK_SECONDS, sessionId }),
    );
    const url = `${this.config.publicUrl}/${API_PREFIX}/account/passkeys/${token}`;
    return { url, expiresIn: LINK_SECONDS };
  }

  /** @returns null for an unknown, replaced or expired link, and when its session ended or must prove the second factor */
  async find(token: string): Promise<(PasskeyOwner & { email: string }) | null> {
    const row = await this.tokens.find('passkeys', token);
    const session = row?.session_id ? await this.sessions.findLive(row.session_id) : null;
    if (!session || session.secondFactorPending) return null;
    const { accountId: userId, tenantId, id: sessionId, email } = session;
    return { userId, tenantId, sessionId, email };
  }
}
