import { Injectable } from '@nestjs/common';
import type { FieldProblem } from '../../../platform/http/api-error.js';
import type { CredentialsRow } from '../../identity/index.js';
import { SecurityErrors } from '../account-security.errors.js';
import { BreachList } from './breach-list.js';
import { MAX_PASSWORD } from '../guess-limits.js';
import { isEasilyGuessed } from './password-strength.js';

/** Code points (NIST SP 800-63B requires 8; revision 4 requires 15 without a second factor). */
const MIN_PASSWORD = 12;

/** Rules for new passwords. No rules on character classes, which weaken passwords in practice. */
@Injectable()
export class PasswordPolicy {
  constructor(private readonly breaches: BreachList) {}

  /** @throws ApiError 422 `weak_password` naming the reason */
  async check(password: string, account: CredentialsRow): Promise<void> {
    const length = [...password.normalize('NFKC')].length;
    if (length < MIN_PASSWORD) throw weak('min_length', `must have ${MIN_PASSWORD} characters or more`);
    if (password.length > MAX_PASSWORD)
      throw weak('max_length', `must have ${MAX_PASSWORD} characters or fewer`);
    const userInputs = [
      account.email,
      ...account.email.split(/[@.+_-]/),
      ...account.display_name.split(/\s+/),
    ];
    if (await isEasilyGuessed(password, [...userInputs.filter((word) => word.length > 2), 'workspace']))
      throw weak('too_common', 'is too easy to guess');
    if (await this.breaches.contains(password)) throw weak('breached', 'appears in a data breach');
  }
}

export function weak(code: string, requirement: string) {
  const problem: FieldProblem = { field: 'new_password', code, message: `new_password ${requirement}` };
  return SecurityErrors.weakPassword.with({ details: [problem] });
}
