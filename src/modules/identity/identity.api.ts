import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../config/config.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { AccessTokens } from './access-tokens.js';
import { emailKey } from './email.js';
import { type AccountRow, IdentityRepository } from './identity.repository.js';
import { hashPassword } from './passwords.js';
import { SigningKeys } from './signing-keys.js';

export interface PersonInput {
  email: string;
  name: string;
  password?: string;
}

export interface TokenRequest {
  accountId: string;
  tenantId: string | null;
  /** The second factor has been proven just now: the session starts at AAL2. */
  aal2?: boolean;
  /** Of the browser that signs in, for the owner's list of sessions. */
  userAgent?: string | null;
  ip?: string | null;
}

/** Passwords hashed at once: one per processor of a small machine; each takes 7 MiB. */
const HASHERS = 4;

/** What the rest of the service may do with accounts, sessions and tokens. */
@Injectable()
export class IdentityApi {
  constructor(
    private readonly repository: IdentityRepository,
    private readonly tokens: AccessTokens,
    private readonly keys: SigningKeys,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  async findByEmail(email: string): Promise<AccountRow | null> {
    return this.repository.byEmail(emailKey(email));
  }

  /**
   * Hashes the passwords of those who have none yet. Slow by nature, so it comes before the transaction.
   * @returns hash by e-mail key
   */
  async hashNewPasswords(people: PersonInput[]): Promise<Map<string, string>> {
    const holders = await this.repository.passwordHolders(
      this.db,
      people.map((person) => emailKey(person.email)),
    );
    // Of several passwords for one person the first stays, as it would if they came one after the other.
    const queue = people
      .map(({ email, password }) => ({ key: emailKey(email), password }))
      .filter(({ key, password }) => password && !holders.has(key) && holders.add(key));
    const hashes = new Map<string, string>();
    const work = async (): Promise<void> => {
      for (let person = queue.pop(); person; person = queue.pop()) {
        hashes.set(person.key, await hashPassword(person.password as string));
      }
    };
    await Promise.all(Array.from({ length: HASHERS }, work));
    return hashes;
  }

  /** Creates the accounts that do not exist; renames the others. @returns account id by e-mail key */
  async provision(tx: Tx, people: PersonInput[], hashes: Map<string, string>): Promise<Map<string, string>> {
    const unique = new Map(people.map((person) => [emailKey(person.email), person]));
    return this.repository.upsertAccounts(
      tx,
      [...unique].map(([key, person]) => ({
        id: uuidv7(),
        email: person.email.trim(),
        emailKey: key,
        displayName: person.name,
        passwordHash: hashes.get(key) ?? null,
      })),
    );
  }

  /** Opens a session for each request and signs its access token. Membership is the caller's business. */
  async issueTokens(
    requests: TokenRequest[],
    clientId: string,
    ttlSeconds = this.config.TOKEN_TTL,
  ): Promise<string[]> {
    const issuedAt = new Date();
    const expiresAt = new Date(issuedAt.getTime() + ttlSeconds * 1000);
    const sessions = requests.map((request) => ({ id: uuidv7(), ...request, clientId, expiresAt }));
    await this.db.tx((tx) => this.repository.createSessions(tx, sessions));
    return Promise.all(
      sessions.map(({ id, accountId, tenantId }) =>
        this.tokens.sign({ accountId, tenantId, sessionId: id, issuedAt, expiresAt }, clientId),
      ),
    );
  }

  /** Ends all sessions of an account, everywhere within 5 seconds. @returns how many ended */
  async revokeSessions(accountId: string): Promise<number> {
    return this.db.tx(async (tx) => {
      const count = await this.repository.revokeSessions(tx, accountId);
      await this.noteAccessChange(tx, accountId);
      return count;
    });
  }

  /** Ends a person's sessions of one workspace; what is cached about their access there is out of date. */
  async endSessionsIn(tx: Tx, accountId: string, tenantId: string): Promise<void> {
    await this.repository.revokeSessionsIn(tx, accountId, tenantId);
    await this.noteAccessChange(tx, accountId, tenantId);
  }

  /** Closes the account itself. */
  async deactivate(tx: Tx, accountId: string): Promise<void> {
    await this.repository.setStatus(tx, accountId, 'deactivated');
    await this.repository.revokeSessions(tx, accountId);
    await this.noteAccessChange(tx, accountId);
  }

  /** Opens a closed account again; its sessions stay ended. */
  async activate(tx: Tx, accountId: string): Promise<void> {
    await this.repository.setStatus(tx, accountId, 'active');
    await this.noteAccessChange(tx, accountId);
  }

  /** Makes every process forget, within 5 seconds, what it has cached about this person's access. */
  async noteAccessChange(tx: Tx, accountId: string, tenantId: string | null = null): Promise<void> {
    await this.repository.noteAccessChange(tx, uuidv7(), { accountId, tenantId });
  }

  /** @returns the new key's id */
  async rotateSigningKey(): Promise<string> {
    return this.keys.rotate();
  }
}
