import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { invalidToken } from '../../../platform/context/bearer.guard.js';
import type { Tx } from '../../../platform/database/tx.js';
import { AccessWatch } from '../access-watch.js';
import { IdentityRepository } from '../identity.repository.js';
import { type SessionRow, SessionsRepository } from './sessions.repository.js';

/** Maximum number of listed sessions; the last used ones are listed. */
const MAX_SHOWN = 100;

/** Operations on single sessions. An end or loss of AAL2 takes effect in every process within 5 seconds. */
@Injectable()
export class SessionsApi {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly identity: IdentityRepository,
    private readonly watch: AccessWatch,
  ) {}

  /** The live sessions of an account, `current` first, then by last use. */
  async listLive(accountId: string, current: string | null): Promise<SessionRow[]> {
    return this.sessions.listLive(accountId, current, MAX_SHOWN);
  }

  /** The live sessions of an account that were used last. */
  async listRecent(accountId: string, limit: number): Promise<SessionRow[]> {
    return this.sessions.listLive(accountId, null, limit);
  }

  /** All live sessions of an account. */
  async allLive(accountId: string): Promise<SessionRow[]> {
    return this.sessions.listLive(accountId, null, null);
  }

  /** The live sessions of an account in one workspace, by last use. */
  async liveIn(accountId: string, tenantId: string): Promise<SessionRow[]> {
    return this.sessions.liveIn(accountId, tenantId, MAX_SHOWN);
  }

  /** Ids of the live sessions of accounts. */
  async liveOf(accountIds: readonly string[]): Promise<{ id: string; account_id: string }[]> {
    return this.sessions.liveOf(accountIds);
  }

  /**
   * Ends the sessions of an account in one workspace.
   * @param sessionId only this one; null: all @returns number of ended sessions
   */
  async endIn(tx: Tx, accountId: string, tenantId: string, sessionId: string | null): Promise<number> {
    const ended = await this.sessions.revokeIn(tx, accountId, tenantId, sessionId);
    if (ended > 0) await this.identity.recordAccessChange(tx, uuidv7(), { accountId, tenantId, sessionId });
    return ended;
  }

  /** Seconds since the second factor was proven in this session; null: not proven, or the session has ended. */
  async aal2Age(sessionId: string): Promise<number | null> {
    return this.sessions.aal2Age(sessionId);
  }

  /** Seconds since the user signed in, or the operator issued the token; null: unknown or ended session. */
  async signInAge(sessionId: string): Promise<number | null> {
    return this.sessions.signInAge(sessionId);
  }

  /**
   * Prevents the end of the session until the transaction ends.
   * @param sessionId null: a token of an external issuer, which has no session
   * @throws ApiError 401 when the session has ended, which this process may not know yet
   */
  async requireLive(tx: Tx, sessionId: string | null): Promise<void> {
    if (sessionId !== null && !(await this.sessions.lockLive(tx, sessionId))) throw invalidToken();
  }

  /**
   * Raises the session to AAL2, from its next request on in every process.
   * @throws ApiError 401 when the session has ended, which this process may not know yet
   */
  async setAal2(tx: Tx, sessionId: string): Promise<void> {
    if (!(await this.sessions.setAal2(tx, sessionId))) throw invalidToken();
  }

  /** Ends one session of the account. @returns false when it is not a live session of the account */
  async end(tx: Tx, accountId: string, sessionId: string): Promise<boolean> {
    const ended = await this.sessions.revokeOne(tx, accountId, sessionId);
    if (ended) await this.invalidate(tx, accountId, sessionId);
    return ended;
  }

  /**
   * Ends all sessions except `except`. If it is null, all browsers must sign in again, also a signed-in browser without a session,
   * from which no client has fetched a token yet.
   * @returns number of ended sessions
   */
  async endOthers(tx: Tx, accountId: string, except: string | null): Promise<number> {
    const ended = await this.sessions.revokeOthers(tx, accountId, except);
    if (except === null) await this.identity.voidSignIns(tx, accountId);
    if (ended.length > 0 || except === null) await this.invalidate(tx, accountId);
    return ended.length;
  }

  /** Ends the sessions that have not proven the second factor. @returns number of ended sessions */
  async endPending(tx: Tx, accountId: string): Promise<number> {
    return (await this.sessions.revokePending(tx, accountId)).length;
  }

  /** Removes AAL2 from all sessions, after the factor was removed. */
  async clearAal2(tx: Tx, accountId: string): Promise<void> {
    await this.sessions.clearAal2(tx, accountId);
    await this.invalidate(tx, accountId);
  }

  /** Makes every process verify the sessions of this account again. @param sessionId of one session, or of an application password */
  async invalidate(tx: Tx, accountId: string, sessionId: string | null = null): Promise<void> {
    await this.identity.recordAccessChange(tx, uuidv7(), { accountId, sessionId });
  }

  /**
   * Applies recorded changes in this process now. Other processes apply them within 5 seconds, as this one does if the poll
   * fails.
   */
  async refreshNow(): Promise<void> {
    await this.watch.poll().catch(() => undefined);
  }
}
