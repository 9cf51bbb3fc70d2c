import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { html, type Html } from '../../platform/html/html-tag.js';
import { isName } from '../../platform/http/input.decorators.js';
import type { BodyReply } from '../../platform/http/replies/body-reply.js';
import { Db } from '../../platform/database/db.js';
import { InvitationAcceptance, type OpenInvitation } from '../access/index.js';
import {
  PasswordPolicy,
  PasswordRecovery,
  PasswordSignIn,
  SecondFactors,
} from '../account-security/index.js';
import {
  CredentialsApi,
  type CredentialsRow,
  IdentityApi,
  Passwords,
  sameMailbox,
} from '../identity/index.js';
import { ProfileService } from '../settings/index.js';
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

/** How the recipient of an invitation proves to be the owner of the account. */
type Step = 'create' | 'set_password' | 'sign_in' | 'confirm' | 'closed';

type Outcome = { alert: string } | { wait: number } | { account: CredentialsRow };

const MAX_NAME = 200;

/** The page of an invitation: a new account gets a name and a password, an existing one signs in. */
@Injectable()
export class InvitationPages {
  constructor(
    private readonly invitations: InvitationAcceptance,
    private readonly credentials: CredentialsApi,
    private readonly identity: IdentityApi,
    private readonly passwords: Passwords,
    private readonly policy: PasswordPolicy,
    private readonly recovery: PasswordRecovery,
    private readonly signIn: PasswordSignIn,
    private readonly factors: SecondFactors,
    private readonly profiles: ProfileService,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  async show(page: PageRequest, token: string): Promise<BodyReply> {
    const opened = await this.opened(token);
    if (!opened) return showInvalidLink(page, 'invitation_invalid_lead');
    return this.form(page, opened.invitation, opened.existing);
  }

  async accept(page: PageRequest, token: string): Promise<BodyReply> {
    const opened = await this.opened(token);
    if (!opened) return showInvalidLink(page, 'invitation_invalid_lead');
    const { invitation, existing } = opened;
    const outcome = await this.accountOf(page, invitation, existing);
    if ('wait' in outcome) return showLimited(page, outcome.wait);
    if ('alert' in outcome) return this.form(page, invitation, existing, outcome.alert);
    const { id, email, display_name: displayName } = outcome.account;
    const { ip, requestId } = page;
    if (!(await this.invitations.accept(invitation, { id, email, displayName }, { ip, requestId })))
      return showInvalidLink(page, 'invitation_invalid_lead');
    const { tenantId, workspace } = invitation;
    if (!existing) await this.keepLanguage(page, { tenantId, userId: id });
    return showPage(page, {
      heading: page.t('joined', { workspace }),
      lead: page.t('joined_lead', { email }),
      content: html`<p><a href="${this.config.webClientUrl}">${page.t('open_client')}</a></p>`,
    });
  }

  /** The invitation of a link, and the account of its recipient; null for an invalid link. */
  private async opened(token: string) {
    const invitation = await this.invitations.find(token);
    if (!invitation) return null;
    const existing = await this.credentials.byEmail(invitation.email);
    return this.hasOtherAddress(invitation, existing) ? null : { invitation, existing };
  }

  /** Later mails to a new user are in the language of the page. */
  private async keepLanguage(
    { language, ip, requestId }: PageRequest,
    member: { tenantId: string; userId: string },
  ): Promise<void> {
    await this.db.tx(async (tx) => {
      const before = await this.profiles.lock(tx, member);
      if (before.locale === null)
        await this.profiles.change(tx, member, before, { locale: language }, { ...member, ip, requestId });
    });
  }

  /** Whether only the key of the address is equal, e.g. with look-alike letters: then the link is no proof, but a password is. */
  private hasOtherAddress({ email }: OpenInvitation, account: CredentialsRow | null): boolean {
    return account !== null && !sameMailbox(account.email, email) && this.stepOf(account) !== 'sign_in';
  }

  private stepOf(account: CredentialsRow | null): Step {
    if (account && account.status !== 'active') return 'closed';
    if (this.config.signInIssuer === null) return account ? 'confirm' : 'create';
    if (!account) return 'create';
    return account.password_hash === null ? 'set_password' : 'sign_in';
  }

  /** The verified account; a new one is created. */
  private async accountOf(
    page: PageRequest,
    invitation: OpenInvitation,
    existing: CredentialsRow | null,
  ): Promise<Outcome> {
    switch (this.stepOf(existing)) {
      case 'create':
        return this.create(page, invitation);
      case 'set_password':
        return this.setPassword(page, invitation, existing as CredentialsRow);
      case 'sign_in':
        return this.verify(page, existing as CredentialsRow);
      case 'confirm':
        return { account: existing as CredentialsRow };
      case 'closed':
        return { alert: page.t('account_closed') };
    }
  }

  private async create(page: PageRequest, { tenantId, email }: OpenInvitation): Promise<Outcome> {
    const name = page.field('name').trim();
    if (!isName(name, MAX_NAME)) return { alert: page.t('name_missing') };
    const hash = await this.hash(page, { email, display_name: name }, tenantId);
    if (typeof hash === 'object') return hash;
    const id = await this.db.tx((tx) => this.identity.open(tx, { email, name }, hash || null));
    // Another request has opened an account. The next attempt requires its password.
    if (id === null) return { alert: page.t('try_again') };
    return { account: (await this.credentials.byId(id)) as CredentialsRow };
  }

  /** The link proves the mailbox, as a link for a forgotten password does; a second factor is verified too. */
  private async setPassword(
    page: PageRequest,
    { tenantId }: OpenInvitation,
    account: CredentialsRow,
  ): Promise<Outcome> {
    const hash = await this.hash(page, account, tenantId);
    if (typeof hash === 'object') return hash;
    const problem = await this.secondFactor(page, account);
    if (problem) return problem;
    const isSet = await this.recovery.setFirst(account.id, hash, page);
    return isSet ? { account } : { alert: page.t('try_again') };
  }

  private async verify(page: PageRequest, account: CredentialsRow): Promise<Outcome> {
    const { email } = account;
    const attempt = await this.signIn.verify({ email, password: page.field('password'), ip: page.ip });
    if (attempt.outcome === 'limited') return { wait: attempt.wait };
    if (attempt.outcome === 'rejected') return { alert: page.t('invalid_password') };
    return (await this.secondFactor(page, account)) ?? { account };
  }

  private async secondFactor(page: PageRequest, account: CredentialsRow): Promise<Outcome | null> {
    if (account.second_factor_since === null) return null;
    const typed = page.field('code').replaceAll(/\s/g, '');
    const proof = /^\d{6}$/.test(typed) ? { code: typed } : { recoveryCode: typed };
    const result = await this.factors.verify(account.id, proof, { ip: page.ip });
    if (result.outcome === 'locked') return { wait: result.wait };
    return result.outcome === 'proven' ? null : { alert: page.t('invalid_code') };
  }

  /** @returns the hash of the new password; empty with an external issuer; a problem as text */
  private async hash(
    page: PageRequest,
    account: Pick<CredentialsRow, 'email' | 'display_name'>,
    tenantId: string,
  ): Promise<string | { alert: string }> {
    if (this.config.signInIssuer === null) return '';
    const password = page.field('new_password');
    try {
      await this.policy.check(password, account, tenantId);
    } catch (error) {
      return { alert: passwordProblem(page, error) };
    }
    return this.passwords.hash(password);
  }

  private form(
    page: PageRequest,
    { workspace, inviter, email }: OpenInvitation,
    account: CredentialsRow | null,
    alert?: string,
  ): BodyReply {
    const { t } = page;
    const step = this.stepOf(account);
    if (step === 'closed')
      return showPage(page, { heading: t('join', { workspace }), alert: t('account_closed') });
    const name = {
      type: 'text',
      autocomplete: 'name',
      value: page.field('name'),
      maxLength: MAX_NAME,
      focus: true,
    } as const;
    const content: Html = html`<p class="hint">${email}</p>
      ${step === 'create' && inputField('name', t('your_name'), name)}
      ${step !== 'sign_in' && this.config.signInIssuer !== null && newPasswordField(page)}
      ${
        step === 'sign_in' &&
        inputField('password', t('password'), {
          type: 'password',
          autocomplete: 'current-password',
          focus: true,
        })
      }
      ${
        account?.second_factor_since &&
        this.config.signInIssuer !== null &&
        inputField('code', t('code'), { type: 'text', autocomplete: 'one-time-code', maxLength: 40 })
      }
      <button>${t('join_button')}</button>`;
    return showPage(page, {
      heading: t('join', { workspace }),
      lead: inviter === null ? t(`${step}_lead`) : `${t('invited_by', { inviter })} ${t(`${step}_lead`)}`,
      alert,
      content: postForm(content),
    });
  }
}
