import { Injectable } from '@nestjs/common';
import type { FieldProblem } from '../../../platform/http/api-error.js';
import type { CredentialsRow } from '../../identity/index.js';
import { TenantPolicies, TenantsApi } from '../../tenants/index.js';
import { SecurityErrors } from '../account-security.errors.js';
import { BreachList } from './breach-list.js';
import { MAX_PASSWORD } from '../model/guess-limits.js';
import { isEasilyGuessed } from './password-strength.js';

/** Code points (NIST SP 800-63B requires 8; revision 4 requires 15 without a second factor). */
const MIN_PASSWORD = 12;

/** The account of a new password; without an id: an account that does not exist yet. */
type PasswordOwner = Pick<CredentialsRow, 'email' | 'display_name'> & { id?: string };

/** Rules for new passwords. No rules on character classes, which weaken passwords in practice. */
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
    if (length < minimum) throw weak('min_length', `must have ${minimum} characters or more`);
    if (password.length > MAX_PASSWORD)
      throw weak('max_length', `must have ${MAX_PASSWORD} characters or fewer`);
    const userInputs = [
      account.email,
      ...account.email.split(/[@.+_-]/),
      ...account.display_name.split(/\s+/),
    ];
    if (isEasilyGuessed(password, [...userInputs.filter((word) => word.length > 2), 'workspace']))
      throw weak('too_common', 'is too easy to guess');
    if (await this.breaches.contains(password)) throw weak('breached', 'appears in a data breach');
  }

  /** The highest minimum of the workspaces of the account. */
  private async minimumLength({ id }: PasswordOwner, tenantId?: string): Promise<number> {
    const workspaces = id === undefined ? [] : await this.tenants.workspacesOf(id);
    const ids = [
      ...workspaces.map((workspace) => workspace.id),
      ...(tenantId === undefined ? [] : [tenantId]),
    ];
    const policies = await Promise.all(ids.map((workspace) => this.policies.of(workspace)));
    return Math.max(MIN_PASSWORD, ...policies.map(({ password_min_length }) => password_min_length ?? 0));
  }
}

export function weak(code: string, requirement: string) {
  const problem: FieldProblem = { field: 'new_password', code, message: `new_password ${requirement}` };
  return SecurityErrors.weakPassword.with({ details: [problem] });
}
