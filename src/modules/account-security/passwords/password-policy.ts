import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type * as Zxcvbn from '@zxcvbn-ts/core';
import type * as CommonWords from '@zxcvbn-ts/language-common';
import { Config } from '../../../config/config.js';
import { lazy } from '../../../lib/lazy/index.js';
import type { FieldProblem } from '../../../platform/http/errors.js';
import type { CredentialsRow } from '../../identity/index.js';
import { TenantPolicies, TenantsApi } from '../../tenants/index.js';
import { SecurityErrors } from '../account-security.errors.js';
import { MAX_PASSWORD } from '../model/guess-limits.js';

const TIMEOUT_MS = 2_000;
const PREFIX_LENGTH = 5;

/**
 * Looks up passwords in a breach database by k-anonymity: only five of forty SHA-1 digits leave the process, and the
 * service returns all hashes with this prefix (range API of Pwned Passwords).
 */
@Injectable()
export class BreachList {
  private readonly logger = new Logger(BreachList.name);

  constructor(private readonly config: Config) {}

  /** False also when no service is configured or available, so that passwords can always be changed. */
  async contains(password: string): Promise<boolean> {
    const base = this.config.PASSWORD_BREACH_URL?.replace(/\/+$/, '');
    if (!base) return false;
    const digest = createHash('sha1').update(password).digest('hex').toUpperCase();
    try {
      const response = await fetch(`${base}/range/${digest.slice(0, PREFIX_LENGTH)}`, {
        headers: { 'Add-Padding': 'true' },
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (!response.ok) throw new Error(`the response has status ${response.status}`);
      return lists(await response.text(), digest.slice(PREFIX_LENGTH));
    } catch (error) {
      this.logger.warn({ err: error }, 'the breach list is unavailable; the password is accepted without it');
      return false;
    }
  }
}

/** Lines of `<hash suffix>:<count>`; padding lines have count 0. */
function lists(text: string, suffix: string): boolean {
  return text.split(/\r?\n/).some((line) => {
    const [candidate, count] = line.split(':');
    return candidate?.trim().toUpperCase() === suffix && Number(count) > 0;
  });
}

/** The estimate takes quadratic time, and 64 characters suffice to recognise a weak password. */
const MAX_ESTIMATED = 64;
/** Minimum estimated guesses: common passwords, keyboard walks and repetitions need fewer. */
const MIN_GUESSES_LOG10 = 6;

/** The word lists take 30 MB, so they are loaded with the first estimate. */
const estimator = lazy((require) => {
  const { ZxcvbnFactory } = require('@zxcvbn-ts/core') as typeof Zxcvbn;
  const { dictionary, adjacencyGraphs } = require('@zxcvbn-ts/language-common') as typeof CommonWords;
  return new ZxcvbnFactory({ dictionary: { ...dictionary }, graphs: adjacencyGraphs });
});

/**
 * Whether an attacker needs fewer than a million guesses.
 * @param userInputs words that an attacker knows: address, user name, service name
 */
export function isEasilyGuessed(password: string, userInputs: string[]): boolean {
  const result = estimator().check(password.slice(0, MAX_ESTIMATED), userInputs);
  return result.guessesLog10 < MIN_GUESSES_LOG10;
}

/** Code points (NIST SP 800-63B requires 8; revision 4 requires 15 without a second factor). */
const MIN_PASSWORD = 12;

/** The account of a new password; without an id: an account that does not exist yet. */
type PasswordOwner = Pick<CredentialsRow, 'email' | 'display_name'> & { id?: string };

/** Rules for new passwords. There are no rules on character classes, which weaken passwords in practice. */
@Injectable()
export class PasswordPolicy {
  constructor(
    private readonly breaches: BreachList,
    private readonly tenants: TenantsApi,
    private readonly policies: TenantPolicies,
  ) {}

  /**
   * @param tenantId a workspace that the account joins; its policy applies in addition to those of the current workspaces
   * @throws ApiError 422 `weak_password` naming the reason
   */
  async check(password: string, account: PasswordOwner, tenantId?: string): Promise<void> {
    const length = [...password.normalize('NFKC')].length;
    const minimum = await this.minimumLength(account, tenantId);
    if (length < minimum) throw makeWeakError('min_length', `must have ${minimum} characters or more`);
    if (password.length > MAX_PASSWORD)
      throw makeWeakError('max_length', `must have ${MAX_PASSWORD} characters or fewer`);
    const userInputs = [
      account.email,
      ...account.email.split(/[@.+_-]/),
      ...account.display_name.split(/\s+/),
    ];
    if (isEasilyGuessed(password, [...userInputs.filter((word) => word.length > 2), 'workspace']))
      throw makeWeakError('too_common', 'is too easy to guess');
    if (await this.breaches.contains(password)) throw makeWeakError('breached', 'appears in a data breach');
  }

  /** The highest minimum of the workspaces of the account. */
  private async minimumLength({ id }: PasswordOwner, tenantId?: string): Promise<number> {
    const workspaces = id === undefined ? [] : await this.tenants.workspacesOf(id);
    const ids = [
      ...workspaces.map((workspace) => workspace.id),
      ...(tenantId === undefined ? [] : [tenantId]),
    ];
    const policies = await Promise.all(ids.map((workspace) => this.policies.readPolicy(workspace)));
    return Math.max(MIN_PASSWORD, ...policies.map(({ password_min_length }) => password_min_length ?? 0));
  }
}

export function makeWeakError(code: string, requirement: string) {
  const problem: FieldProblem = { field: 'new_password', code, message: `new_password ${requirement}` };
  return SecurityErrors.weakPassword.with({ details: [problem] });
}
