import { Injectable } from '@nestjs/common';
import { browserName } from '../../platform/http/user-agent.js';
import { RequiredEnrolment } from '../account-security/index.js';
import * as pages from './pages/index.js';
import { parseField } from './interaction/sign-in-forms.js';
import { actorOf, frameOf, type Pending, type PendingEnrolment, type SignIn } from './sign-in-state.js';

type Enrolling = Pending & { enrolment: PendingEnrolment };

/** The result of a step: a page, or the methods of a complete sign-in. */
export type EnrolmentStep =
  | { page: pages.Page; enrolment?: PendingEnrolment }
  | { page: pages.Page; restart: true }
  | { amr: string[] };

export const isEnrolling = (pending: Pending): pending is Enrolling => pending.enrolment !== undefined;

/** Steps of a sign-in in which the user enables a second factor that the workspace requires. */
@Injectable()
export class SignInEnrolment {
  constructor(private readonly required: RequiredEnrolment) {}

  /** @returns the enrolment that the sign-in must offer; null: none */
  async begin({ client }: SignIn, accountId: string): Promise<PendingEnrolment | null> {
    const due = await this.required.findDue(accountId, client.ownerTenantId);
    const secret = due && (await this.required.begin(accountId));
    return due && secret !== null ? { ...due, secret } : null;
  }

  /** @returns the page of the current step; null when it must start again */
  async page(signIn: SignIn, pending: Enrolling, alert?: string): Promise<pages.Page | null> {
    const { enrolment, email, accountId } = pending;
    const frame = frameOf(signIn, alert);
    if (enrolment.enabled) return pages.recoveryCodesPage(frame, null);
    const shown = await this.required.authenticator(accountId, enrolment.secret);
    if (!shown) return null;
    const passkey = await this.required.passkeyOptions(actorOf(signIn.request, pending.accountId));
    const { workspace, isOptional } = enrolment;
    return pages.enrolmentPage(frame, { ...shown, email, workspace, isOptional, passkey });
  }

  /** @returns null for another step, and when the enrolment must start again */
  async handleSubmission(
    signIn: SignIn,
    pending: Enrolling,
    fields: (name: string) => string,
  ): Promise<EnrolmentStep | null> {
    const { enrolment } = pending;
    switch (fields('step')) {
      case 'enrol_code':
        return enrolment.enabled ? null : this.code(signIn, pending, fields('code'));
      case 'enrol_passkey':
        return enrolment.enabled ? null : this.passkey(signIn, pending, fields('credential'));
      case 'enrol_done':
        return enrolment.enabled ? { amr: ['pwd', enrolment.enabled, 'mfa'] } : null;
      case 'enrol_skip':
        return enrolment.isOptional && !enrolment.enabled ? { amr: ['pwd'] } : null;
      default:
        return null;
    }
  }

  private async code(signIn: SignIn, pending: Enrolling, code: string): Promise<EnrolmentStep | null> {
    const { t } = signIn.locale;
    if (code.trim() === '') return this.again(signIn, pending, t('code_missing'));
    const result = await this.required.enable(actorOf(signIn.request, pending.accountId), code);
    if (result.outcome === 'locked')
      return { page: pages.limitedPage(signIn.locale, result.wait), restart: true };
    if (result.outcome === 'not_pending') return null;
    if (result.outcome === 'invalid') return this.again(signIn, pending, t('invalid_code'));
    return enabled(signIn, pending, 'otp', result.recoveryCodes);
  }

  private async passkey(signIn: SignIn, pending: Enrolling, response: string): Promise<EnrolmentStep | null> {
    const { t } = signIn.locale;
    if (response === '') return this.again(signIn, pending, t('passkey_missing'));
    const { browser, system } = browserName(signIn.request.headers['user-agent']);
    const name = [browser, system].filter(Boolean).join(', ') || t('passkey');
    const result = await this.required.registerPasskey(
      actorOf(signIn.request, pending.accountId),
      name,
      parseField(response),
    );
    if (result.outcome === 'not_pending') return null;
    return result.outcome === 'enabled'
      ? enabled(signIn, pending, 'pop', result.recoveryCodes)
      : this.again(signIn, pending, t('passkey_invalid'));
  }

  private async again(signIn: SignIn, pending: Enrolling, alert: string): Promise<EnrolmentStep | null> {
    const page = await this.page(signIn, pending, alert);
    return page && { page };
  }
}

const enabled = (
  signIn: SignIn,
  { enrolment }: Enrolling,
  method: 'otp' | 'pop',
  codes: string[] | null,
): EnrolmentStep => ({
  page: pages.recoveryCodesPage(frameOf(signIn), codes),
  enrolment: { ...enrolment, enabled: method },
});
