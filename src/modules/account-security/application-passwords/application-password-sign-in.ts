import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { networkOf } from '../../../platform/current-work/current-work.js';
import type { TenantRole } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { isStorable } from '../../../platform/http/storable-text.js';
import { type GuessLimit, GuessLocks } from '../../../platform/rate-limits/guess-locks.js';

import { RateLimits } from '../../../platform/rate-limits/rate-limits.js';
import { SecretBox } from '../../../platform/secrets/secret-box.js';
import { CredentialsApi, emailKey } from '../../identity/index.js';
import { TenantsApi } from '../../tenants/index.js';
import { APPLICATION_SIGN_IN, APPLICATION_SIGN_IN_ANYWHERE } from '../model/guess-limits.js';
import { type FailedSignIn, SignInLog } from '../security-log.js';
import type { Scope } from './application-password-provider.js';
import {
  applicationPasswordHashes,
  plainApplicationPassword,
  sameHash,
} from './application-password-secret.js';
import { ApplicationPasswordsRepository } from './application-passwords.repository.js';
import { ownerOf } from './application-passwords.service.js';

/** A program that has signed in. */
export interface SignedInProgram {
  tenantId: string;
  userId: string;
  role: TenantRole;
  /** The id of the password. */
  passwordId: string;
  /** Protocols of the password. */
  scopes: readonly Scope[];
  /** End of the password; null: it has none. */
  endsAt: Date | null;
}

export type ProgramSignIn =
  | { outcome: 'ok'; program: SignedInProgram }
  /** Incorrect, ended or unknown: indistinguishable. */
  | { outcome: 'rejected' }
  /** The password is not verified. `wait` is in seconds. */
  | { outcome: 'limited'; wait: number };

/** Longer addresses match no account. */
const MAX_EMAIL = 320;
/** The sign-ins of a network as a multiple of those of people: programs repeat theirs. */
const PROGRAMS_OF_A_NETWORK = 20;
/** Workspaces of an account that are searched for the password. */
const MAX_WORKSPACES = 50;

/**
 * Verifies application passwords for the servers of this application. Guesses are counted as those of a sign-in: per address and
 * network, and per address from all networks together.
 */
@Injectable()
export class ApplicationPasswordSignIn {
  constructor(
    private readonly repository: ApplicationPasswordsRepository,
    private readonly credentials: CredentialsApi,
    private readonly tenants: TenantsApi,
    private readonly locks: GuessLocks,
    private readonly limits: RateLimits,
    private readonly config: Config,
    private readonly log: SignInLog,
    private readonly box: SecretBox,
    private readonly db: Db,
  ) {}

  /** @param email the address of the account; its password names the workspace */
  async signIn(email: string, password: string, ip: string | null): Promise<ProgramSignIn> {
    const limit = {
      scope: 'application-sign-in',
      requests: this.config.SIGN_IN_PER_MINUTE * PROGRAMS_OF_A_NETWORK,
      perSeconds: 60,
    };
    const wait = await this.limits.take({ limit, subject: networkOf(ip) });
    if (wait > 0) return { outcome: 'limited', wait };
    if (email.length > MAX_EMAIL || !isStorable(email)) return { outcome: 'rejected' };
    const subjects = subjectsOf(emailKey(email), ip);
    let lock: FailedSignIn['lock'] = null;
    for (const [index, { limit, subject, scope }] of subjects.entries()) {
      const guess = await this.locks.begin(limit, subject);
      if (!guess.allowed) {
        await this.db.tx(async (tx) => {
          for (const counted of subjects.slice(0, index))
            await this.locks.giveBack(tx, counted.limit, counted.subject);
        });
        return { outcome: 'limited', wait: guess.wait };
      }
      if (guess.last) lock = scope;
    }
    const account = await this.credentials.byEmail(email);
    const plain = plainApplicationPassword(password);
    const program =
      account?.status === 'active' && plain !== null ? await this.find(account.id, plain) : null;
    if (!program) {
      await this.log.recordFailure({
        accountId: account?.id ?? null,
        factor: 'application_password',
        ip,
        lock,
      });
      return { outcome: 'rejected' };
    }
    await this.db.tx(async (tx) => {
      for (const { limit, subject } of subjects) await this.locks.forget(tx, limit, subject);
    });
    await this.db.single((tx) => this.repository.recordUse(tx, program.tenantId, program.passwordId, ip));
    return { outcome: 'ok', program };
  }

  private async find(userId: string, plain: string): Promise<SignedInProgram | null> {
    for (const tenantId of await this.tenants.tenantIdsOf(userId, MAX_WORKSPACES)) {
      const { selectors, hashes } = applicationPasswordHashes(this.box, ownerOf({ tenantId, userId }), plain);
      const rows = await this.repository.bySelector(tenantId, userId, selectors);
      const found = rows.find((row) => hashes.some((hash) => sameHash(hash, row.hash)));
      const role = found && (await this.tenants.activeRole(tenantId, userId));
      if (role) {
        const { id: passwordId, scopes, expires_at: endsAt } = found;
        return { tenantId, userId, role, passwordId, scopes, endsAt };
      }
    }
    return null;
  }
}

function subjectsOf(
  address: string,
  ip: string | null,
): { limit: GuessLimit; subject: string; scope: 'network' | 'address' }[] {
  return [
    { limit: APPLICATION_SIGN_IN, subject: `${address} network ${networkOf(ip)}`, scope: 'network' },
    { limit: APPLICATION_SIGN_IN_ANYWHERE, subject: address, scope: 'address' },
  ];
}
