import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { type CredentialsRow, CredentialsRepository } from './credentials.repository.js';
import { emailKey } from './email.js';
import { Passwords } from './passwords.js';

/** Credentials of accounts: the password, and whether a second factor is required. */
@Injectable()
export class CredentialsApi {
  constructor(
    private readonly repository: CredentialsRepository,
    private readonly passwords: Passwords,
    private readonly db: Db,
  ) {}

  async byEmail(email: string): Promise<CredentialsRow | null> {
    return this.repository.byEmail(emailKey(email));
  }

  async byId(accountId: string, reader?: Reader): Promise<CredentialsRow | null> {
    return this.repository.byId(accountId, reader);
  }

  /**
   * Compares a password. The time is the same for an unknown account. Replaces a hash that has outdated parameters.
   * @param account null: unknown account
   */
  async passwordMatches(account: CredentialsRow | null, password: string): Promise<boolean> {
    const phc = account?.password_hash ?? null;
    const matches = await this.passwords.verify(phc, password);
    if (matches && account && phc !== null && this.passwords.isOutdated(phc)) {
      const fresh = await this.passwords.hash(password);
      await this.db.single((tx) => this.repository.rehash(tx, account.id, phc, fresh));
      account.password_hash = fresh;
    }
    return matches;
  }

  /**
   * @param oldHash the hash that the current password was compared with
   * @param newHash from `Passwords.hash`, computed before the transaction
   * @returns false when the password changed in between
   */
  async setPassword(tx: Tx, accountId: string, oldHash: string | null, newHash: string): Promise<boolean> {
    return this.repository.setPassword(tx, accountId, oldHash, newHash);
  }

  /** Changes the address. @returns false when another account has it */
  async setEmail(tx: Tx, accountId: string, email: string): Promise<boolean> {
    return this.repository.setEmail(tx, accountId, email, emailKey(email));
  }

  /** Sets whether every session must prove a second factor. */
  async setSecondFactor(tx: Tx, accountId: string, on: boolean): Promise<void> {
    await this.repository.setSecondFactor(tx, accountId, on);
  }
}
