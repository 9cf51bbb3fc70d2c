import { Injectable } from '@nestjs/common';
import type { IDToken } from 'openid-client';
import { cutText } from '../../lib/text/index.js';
import { Audit } from '../../platform/audit/audit.js';
import { ConcurrentChangeError } from '../../platform/database/database-errors.js';
import { Db } from '../../platform/database/db.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { Outbox } from '../../platform/events/outbox.js';
import { isEmailAddress, isName } from '../../platform/http/input.decorators.js';
import { isStorable } from '../../platform/http/storable-text.js';
import { MemberAdmission } from '../access/index.js';
import { IdentityApi, sameMailbox, SignInSessions } from '../identity/index.js';
import { isInDomains, TenantDomains, TenantsApi } from '../tenants/index.js';
import type { TenantIssuer } from './issuers.schema.js';
import { IssuersRepository } from './issuers.repository.js';

/** OpenID Connect Core 1.0, section 2. */
const MAX_SUBJECT = 255;
const MAX_NAME = 100;

/** Why an issuer's user was not signed in; recorded in the audit log. */
export type Rejection =
  | 'invalid_subject'
  | 'no_email'
  | 'email_not_verified'
  | 'domain_not_bound'
  | 'other_address'
  | 'no_account'
  | 'link_not_allowed'
  | 'subject_changed'
  | 'issuer_deleted'
  | 'not_a_member'
  | 'member_deactivated'
  | 'account_closed';

/** The user of an ID token. */
interface IssuerUser {
  subject: string;
  email: string;
  name: string;
  groupIds: string[];
}

/** Origin of a sign-in by an issuer, for the audit log. */
export interface IssuerOrigin {
  ip: string | null;
  requestId: string | null;
}

type Account = { id: string; email: string; displayName: string };

class RejectedError extends Error {
  constructor(readonly reason: Rejection) {
    super(reason);
  }
}

/**
 * Accounts of the users of an issuer. The address of the ID token and the address of the account must be in domains that the
 * workspace has verified and bound to the issuer.
 */
@Injectable()
export class IssuerAccounts {
  constructor(
    private readonly issuers: IssuersRepository,
    private readonly admission: MemberAdmission,
    private readonly domains: TenantDomains,
    private readonly tenants: TenantsApi,
    private readonly identity: IdentityApi,
    private readonly sessions: SignInSessions,
    private readonly outbox: Outbox,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** Finds, links or creates the account and the membership that the rules of the issuer allow. */
  async admit(
    issuer: TenantIssuer,
    claims: IDToken,
    origin: IssuerOrigin,
  ): Promise<{ accountId: string } | { rejected: Rejection }> {
    try {
      const user = await this.userOf(issuer, claims);
      const accountId =
        (await this.knownMember(issuer, user)) ??
        (await this.db.tx((tx) => this.admitted(tx, issuer, user, origin)));
      return { accountId };
    } catch (error) {
      if (error instanceof RejectedError) return { rejected: error.reason };
      throw error;
    }
  }

  private async userOf(issuer: TenantIssuer, claims: IDToken): Promise<IssuerUser> {
    const { sub: subject } = claims;
    const email = claims[issuer.email_claim];
    if (subject.length > MAX_SUBJECT || !isStorable(subject)) throw new RejectedError('invalid_subject');
    if (typeof email !== 'string' || !isStorable(email) || !isEmailAddress(email))
      throw new RejectedError('no_email');
    if (!provesAddress(issuer, claims, email)) throw new RejectedError('email_not_verified');
    await this.assertBound(issuer, email);
    const name = claims[issuer.name_claim];
    const isUsable = typeof name === 'string' && isStorable(name) && isName(name.trim(), MAX_NAME);
    return {
      subject,
      email,
      name: isUsable ? name.trim() : cutText(email.slice(0, email.lastIndexOf('@')), MAX_NAME),
      groupIds: mappedGroups(issuer, claims),
    };
  }

  private async assertBound(
    { tenant_id, domains }: TenantIssuer,
    email: string,
    reader?: Reader,
  ): Promise<void> {
    if (!isInDomains(email, domains) || (await this.domains.ownerOf(email, reader)) !== tenant_id)
      throw new RejectedError('domain_not_bound');
  }

  /** The account of a user who signed in before and is a member. Such a sign-in changes nothing. */
  private async knownMember(issuer: TenantIssuer, { subject }: IssuerUser): Promise<string | null> {
    const linked = await this.issuers.linkedAccount(issuer, subject);
    if (linked === null || (await this.tenants.activeRole(issuer.tenant_id, linked)) === null) return null;
    return (await this.byId(issuer, linked)).id;
  }

  private async admitted(
    tx: Tx,
    issuer: TenantIssuer,
    user: IssuerUser,
    origin: IssuerOrigin,
  ): Promise<string> {
    const { tenant_id: tenantId } = issuer;
    // The lock order of all group changes: groups, then accounts and members.
    await this.admission.lock(tx, tenantId);
    if (!(await this.issuers.find(tenantId, issuer.id, tx))) throw new RejectedError('issuer_deleted');
    const linked = await this.issuers.linkedAccount(issuer, user.subject, tx);
    const account =
      linked === null ? await this.linkOrOpen(tx, issuer, user) : await this.byId(issuer, linked, tx);
    const status = await this.tenants.memberStatus(tx, tenantId, account.id);
    if (status === 'deactivated') throw new RejectedError('member_deactivated');
    const isNew = status === null;
    if (isNew) await this.join(tx, issuer, user, account);
    if (linked === null || isNew)
      await this.audit.record(
        tx,
        { tenantId, userId: account.id, ...origin },
        {
          action: isNew ? 'user.joined' : 'tenant.issuer.account_linked',
          objectKind: 'user',
          objectId: account.id,
          data: { issuer_id: issuer.id, issuer: issuer.issuer },
        },
      );
    return account.id;
  }

  private async byId(issuer: TenantIssuer, id: string, reader?: Reader): Promise<Account> {
    const account = await this.sessions.account(id, reader);
    if (!account) throw new RejectedError('account_closed');
    await this.assertBound(issuer, account.email, reader);
    return account;
  }

  private async linkOrOpen(
    tx: Tx,
    issuer: TenantIssuer,
    { subject, email, name }: IssuerUser,
  ): Promise<Account> {
    const existing = await this.identity.findByEmail(email, tx);
    if (existing && existing.status !== 'active') throw new RejectedError('account_closed');
    // Different addresses can have the same key. The account must have exactly this address.
    if (existing && !sameMailbox(existing.email, email)) throw new RejectedError('other_address');
    if (existing && !issuer.links_accounts) throw new RejectedError('link_not_allowed');
    if (!existing && !issuer.creates_members) throw new RejectedError('no_account');
    const id = existing?.id ?? (await this.identity.open(tx, { email, name }));
    // The repeated transaction finds the account and applies the rules for existing ones.
    if (id === null) throw new ConcurrentChangeError('the account was opened meanwhile');
    if (!(await this.issuers.link(tx, issuer, subject, id))) throw new RejectedError('subject_changed');
    return { id, email: existing?.email ?? email, displayName: existing?.display_name ?? name };
  }

  private async join(
    tx: Tx,
    issuer: TenantIssuer,
    { groupIds }: IssuerUser,
    account: Account,
  ): Promise<void> {
    const { tenant_id: tenantId, creates_members, default_role: role } = issuer;
    if (!creates_members) throw new RejectedError('not_a_member');
    await this.admission.join(tx, tenantId, account, { role, groupIds, by: null });
    const payload = { user_id: account.id, invited_by: null };
    await this.outbox.append(tx, { tenantId, type: 'member.joined', payload });
  }
}

const GOOGLE = 'https://accounts.google.com';

/**
 * Whether the ID token proves that the domain of the address manages the account. Google also verifies addresses of consumer accounts,
 * whose holder may have left the company: only `hd` names the company of a managed account (Google, "Validating an ID token").
 */
export function provesAddress(
  { issuer, trusts_email }: Pick<TenantIssuer, 'issuer' | 'trusts_email'>,
  claims: Record<string, unknown>,
  email: string,
): boolean {
  if (issuer === GOOGLE) {
    const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
    const { email_verified: isVerified, hd } = claims;
    return isVerified === true && typeof hd === 'string' && hd.toLowerCase() === domain;
  }
  return claims['email_verified'] === true || trusts_email;
}

function mappedGroups({ groups_claim, group_mappings }: TenantIssuer, claims: IDToken): string[] {
  const claim = groups_claim === null ? [] : claims[groups_claim];
  const values = new Set<unknown>(Array.isArray(claim) ? claim : [claim]);
  return [...new Set(group_mappings.filter(({ value }) => values.has(value)).map((each) => each.group_id))];
}
