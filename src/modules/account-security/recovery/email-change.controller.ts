import { Controller, Headers } from '@nestjs/common';
import { Tenantless } from '../../../platform/context/access.decorators.js';
import { type AccountContext, Ctx } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { acceptedLanguage } from '../../../platform/languages/languages.js';
import { RateLimited } from '../../../platform/rate-limits/rate-limit.guard.js';
import { SecurityErrors } from '../account-security.errors.js';
import { PASSWORD_LIMIT } from '../model/guess-limits.js';
import { ChangeEmail, EmailState } from './email-change.dto.js';
import { EmailChange } from './email-change.js';

@Controller('settings/email')
export class EmailChangeController {
  constructor(private readonly changes: EmailChange) {}

  @Endpoint('GET', {
    tag: 'settings',
    id: 'readEmail',
    summary: 'Read your e-mail address and its pending change',
    description:
      'The pending change waits for the confirmation by the link that was sent to the new address.',
    response: [EmailState, 'The address.'],
  })
  @Tenantless()
  read(@Ctx() ctx: AccountContext): Promise<EmailState> {
    return this.changes.read(ctx);
  }

  @Endpoint('PUT', {
    tag: 'settings',
    id: 'changeEmail',
    summary: 'Change your e-mail address',
    description:
      'Sends a link to the new address, valid for a day; the change takes effect when it is opened and confirmed. The old address gets a notice. An address of another account gets no mail, and the response is the same. An account with neither a password nor a second factor gets 403 `invalid_password`.',
    status: 202,
    response: [EmailState, 'The address and the pending change.'],
    errors: [
      SecurityErrors.invalidPassword,
      SecurityErrors.managedExternally,
      SecurityErrors.invalidCode,
      SecurityErrors.tooManyAttempts,
      Errors.tooManyRequests,
    ],
  })
  @Tenantless()
  @RateLimited(PASSWORD_LIMIT)
  change(
    @Ctx() ctx: AccountContext,
    @CheckedBody(ChangeEmail) body: Checked<ChangeEmail>,
    @Headers('accept-language') language: string | undefined,
  ): Promise<EmailState> {
    return this.changes.request(ctx, body.value, acceptedLanguage(language) ?? 'en');
  }

  @Endpoint('DELETE', {
    tag: 'settings',
    id: 'cancelEmailChange',
    summary: 'Cancel the pending change of your e-mail address',
    description:
      'The link that was sent to the new address becomes invalid. Without a pending change, nothing happens.',
    response: [EmailState, 'The address.'],
  })
  @Tenantless()
  cancel(@Ctx() ctx: AccountContext): Promise<EmailState> {
    return this.changes.cancel(ctx);
  }
}
