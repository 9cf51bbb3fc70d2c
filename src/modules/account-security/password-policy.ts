import { Injectable } from '@nestjs/common';
import type { FieldProblem } from '../../platform/http/api-error.js';
import type { CredentialsRow } from '../identity/index.js';
import { SecurityErrors } from './account-security.errors.js';
import { BreachList } from './breach-list.js';
import { MAX_PASSWORD } from './password-sign-in.js';
import { isEasilyGuessed } from './password-strength.js';

/** Code points (NIST SP 800-63B asks for 8, its next edition for 15 where there is no second factor). */
export const MIN_PASSWORD = 12;

/** What passwords may be set. No rule on kinds of characters: they make passwords worse, not better. */
@Injectable()
export class PasswordPolicy {
  constructor(private readonly breaches: BreachList) {}

  /** @throws ApiError 422 `weak_password` naming the reason */
  async check(password: string, account: CredentialsRow): Promise<void> {
    const length = [...password.normalize('NFKC')].length;
    if (length < MIN_PASSWORD) throw weak('min_length', `must have ${MIN_PASSWORD} characters or more`);
    if (password.length > MAX_PASSWORD)
      throw weak('max_length', `must have ${MAX_PASSWORD} characters or fewer`);
    const about = [account.email, ...account.email.split(/[@.+_-]/), ...account.display_name.split(/\s+/)];
    if (await isEasilyGuessed(password, [...about.filter((word) => word.length > 2), 'workspace']))
      throw weak('too_common', 'is among those that are tried first');
    if (await this.breaches.contains(password)) throw weak('breached', 'is known from a data breach');
  }
}

export function weak(code: string, what: string) {
  const problem: FieldProblem = { field: 'new_password', code, message: `new_password ${what}` };
  return SecurityErrors.weakPassword.with({ details: [problem] });
}
