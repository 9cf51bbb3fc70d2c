import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Tx } from '../../platform/database/tx.js';
import { AccessWatch } from './access-watch.js';
import { IdentityRepository } from './identity.repository.js';
import { type SessionRow, SessionsRepository } from './sessions.repository.js';

/** Sessions shown at most; somebody with more sees those used last. */
export const MAX_SHOWN = 100;

/** What may be done with single sessions. Whatever ends or lowers one counts on every process within 5 seconds. */
@Injectable()
export class SessionsApi {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly identity: IdentityRepository,
    private readonly watch: AccessWatch,
  ) {}

  /** The live sessions of an account, `current` first, then by last use. */
  async live(accountId: string, current: string | null): Promise<SessionRow[]> {
    return this.sessions.live(accountId, current, MAX_SHOWN);
  }

  /** Seconds since the second factor was proven in this session; null: it was not. */
  async aal2Age(sessionId: string): Promise<number | null> {
    return this.sessions.aal2Age(sessionId);
  }

  /** The second factor has been proven in this session. Counts for its next request on every process. */
  async raise(tx: Tx, sessionId: string): Promise<void> {
    await this.sessions.raise(tx, sessionId);
  }

  /** Ends one session of the account. @returns false when it is not a live one of theirs */
  async end(tx: Tx, accountId: string, sessionId: string): Promise<boolean> {
    const ended = await this.sessions.revokeOne(tx, accountId, sessionId);
    if (ended) await this.announce(tx, accountId, sessionId);
    return ended;
  }

  /** Ends all sessions but `except`. @returns how many ended */
  async endOthers(tx: Tx, accountId: string, except: string | null): Promise<number> {
    const ended = await this.sessions.revokeOthers(tx, accountId, except);
    if (ended.length > 0) await this.announce(tx, accountId);
    return ended.length;
  }

  /** Ends the sessions that have yet to prove the second factor. @returns how many ended */
  async endPending(tx: Tx, accountId: string): Promise<number> {
    return (await this.sessions.revokePending(tx, accountId)).length;
  }

  /** What all sessions have proven is void: the factor is gone. */
  async lower(tx: Tx, accountId: string): Promise<void> {
    await this.sessions.lower(tx, accountId);
    await this.announce(tx, accountId);
  }

  /** Makes every process look at the sessions of this account anew. */
  async announce(tx: Tx, accountId: string, sessionId: string | null = null): Promise<void> {
    await this.identity.noteAccessChange(tx, uuidv7(), { accountId, sessionId });
  }

  /** Makes this process notice now what has just been announced; the others do within 5 seconds, and so does it if this fails. */
  async noticeNow(): Promise<void> {
    await this.watch.poll().catch(() => undefined);
  }
}
