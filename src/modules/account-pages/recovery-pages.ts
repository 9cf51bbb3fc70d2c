import { Injectable } from '@nestjs/common';
import { mailAddress } from '../../lib/text/index.js';
import { html } from '../../platform/html/html-tag.js';
import type { BodyReply } from '../../platform/http/replies/body-reply.js';
import { isEmailAddress, MAX_EMAIL } from '../../platform/http/input.decorators.js';
import { EmailChange, PasswordRecovery } from '../account-security/index.js';
import { DomainJoin } from './domain-join.js';
import {
  inputField,
  newPasswordField,
  type PageRequest,
  passwordProblem,
  postForm,
  showInvalidLink,
  showLimited,
  showPage,
} from './page-kit.js';

/** Pages for a forgotten password, for the confirmation of an address, and for joining by a verified domain. */
@Injectable()
export class RecoveryPages {
  constructor(
    private readonly recovery: PasswordRecovery,
    private readonly emails: EmailChange,
    private readonly joining: DomainJoin,
  ) {}

  showRequest(page: PageRequest, kind: 'forgot' | 'self_join', alert?: string): BodyReply {
    const { t } = page;
    if (!this.serviceOf(kind).enabled)
      return showPage(page, { heading: t(kind), lead: t('unavailable'), status: 404 });
    const email = {
      type: 'email',
      autocomplete: 'username',
      value: page.field('email'),
      focus: true,
    } as const;
    const content = html`${inputField('email', t('email'), { ...email, maxLength: MAX_EMAIL })}
      <button>${t('send_link')}</button>`;
    return showPage(page, { heading: t(kind), lead: t(`${kind}_lead`), alert, content: postForm(content) });
  }

  /** The response is the same for any address. */
  async request(page: PageRequest, kind: 'forgot' | 'self_join'): Promise<BodyReply> {
    const service = this.serviceOf(kind);
    if (!service.enabled) return this.showRequest(page, kind);
    const email = mailAddress(page.field('email'));
    if (!isEmailAddress(email)) return this.showRequest(page, kind, page.t('email_missing'));
    const wait = await service.request(email, page.language, page);
    if (wait > 0) return showLimited(page, wait);
    return showPage(page, { heading: page.t('link_sent'), lead: page.t(`${kind}_sent_lead`, { email }) });
  }

  async showPassword(page: PageRequest, token: string): Promise<BodyReply> {
    const account = await this.recovery.find(token);
    return account ? this.passwordForm(page, account.email) : showInvalidLink(page, 'link_invalid_lead');
  }

  async setPassword(page: PageRequest, token: string): Promise<BodyReply> {
    const account = await this.recovery.find(token);
    if (!account) return showInvalidLink(page, 'link_invalid_lead');
    try {
      if (!(await this.recovery.reset(token, page.field('new_password'), page)))
        return showInvalidLink(page, 'link_invalid_lead');
    } catch (error) {
      return this.passwordForm(page, account.email, passwordProblem(page, error));
    }
    return showPage(page, { heading: page.t('password_set'), lead: page.t('password_set_lead') });
  }

  async showEmail(page: PageRequest, token: string): Promise<BodyReply> {
    const change = await this.emails.find(token);
    if (!change) return showInvalidLink(page, 'link_invalid_lead');
    const { t } = page;
    return showPage(page, {
      heading: t('confirm_email'),
      lead: t('confirm_email_lead', change),
      content: postForm(html`<button>${t('confirm_email_button')}</button>`),
    });
  }

  async confirmEmail(page: PageRequest, token: string): Promise<BodyReply> {
    const change = await this.emails.find(token);
    if (!change || !(await this.emails.complete(token, page.language, page)))
      return showInvalidLink(page, 'link_invalid_lead');
    const { email } = change;
    return showPage(page, {
      heading: page.t('email_changed'),
      lead: page.t('email_changed_lead', { email }),
    });
  }

  private serviceOf(kind: 'forgot' | 'self_join') {
    return kind === 'forgot' ? this.recovery : this.joining;
  }

  private passwordForm(page: PageRequest, email: string, alert?: string): BodyReply {
    const { t } = page;
    const user = html`<input type="hidden" name="username" autocomplete="username" value="${email}" />`;
    const content = html`${user}${newPasswordField(page, true)}
      <p class="hint">${t('set_password_ends')}</p>
      <button>${t('set_password')}</button>`;
    return showPage(page, {
      heading: t('set_password'),
      lead: t('account_is', { email }),
      alert,
      content: postForm(content),
    });
  }
}
