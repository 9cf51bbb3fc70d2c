import { Injectable, type OnModuleInit } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import type { Language } from '../../../platform/languages/languages.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { newToken } from '../../../platform/secrets/secret-box.js';
import type { MailContent } from '../../../platform/system-mail/mail-template.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { emailKey } from '../../identity/index.js';
import { TenantsApi } from '../../tenants/index.js';
import { AccessErrors } from '../access.dto.js';
import { Authority, assertHolds } from '../authority.js';
import { MemberAdmission, NewMemberGroups } from '../member-admission.js';
import { InvitationMails } from './invitation-mails.js';
import { TenantInvitation } from '../access.schema.js';
import type {
  CreateInvitation,
  InvitationDetailEnvelope,
  InvitationEnvelope,
  InvitationListEnvelope,
  InvitationResponse,
  ListInvitations,
} from './invitations.dto.js';
import { InvitationsRepository } from './invitations.repository.js';

const DAY_MS = 86_400_000;
const MAX_SENT = 10;

/** Invitations of users to a workspace. `InvitationAcceptance` makes members of their recipients. */
@Injectable()
export class InvitationsService implements OnModuleInit {
  constructor(
    private readonly invitations: InvitationsRepository,
    private readonly groups: NewMemberGroups,
    private readonly mails: InvitationMails,
    private readonly authority: Authority,
    private readonly admission: MemberAdmission,
    private readonly tenants: TenantsApi,
    private readonly cursors: Cursors,
    private readonly jobs: PeriodicJobs,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'access.invitations',
      everySeconds: 3_600,
      run: () => this.invitations.clean(),
    });
  }

  /**
   * Replaces a link that a visitor requested for the address by a verified domain.
   * @throws ApiError 403 `cannot_grant_unheld`; 409 `already_member`, `already_invited`; 422 `unknown_group`,
   * `too_many_invitations`; 503 `mail_not_configured`
   */
  async create(ctx: RequestContext, input: CreateInvitation): Promise<JsonReply<InvitationEnvelope>> {
    const { tenantId } = ctx;
    const { email, role, message, language } = input;
    const names = await this.namesOf(ctx);
    const expiresAt = new Date(Date.now() + input.expires_in_days * DAY_MS);
    const groupIds = input.groups.map((id) => id.toLowerCase());
    return this.db.tx(async (tx) => {
      await this.admission.assertMayGive(tx, ctx, 'users.invite', { role, groupIds });
      if ((await this.tenants.findMembers(tenantId, [email], tx)).size > 0)
        throw AccessErrors.alreadyMember.with();
      if ((await this.invitations.expire(tx, tenantId, 'member')) >= QUOTAS.workspace.invitations)
        throw AccessErrors.tooManyInvitations.with();
      await this.invitations.endOfDomain(tx, tenantId, emailKey(email));
      const { token, hash } = newToken(tenantId);
      const invitation = await rowsOf(tx, TenantInvitation).insert({
        tenant_id: tenantId,
        id: uuidv7(),
        email,
        email_key: emailKey(email),
        role,
        group_ids: groupIds,
        message,
        language,
        token_hash: hash,
        invited_by: ctx.userId,
        expires_at: expiresAt,
      });
      if (!invitation) throw AccessErrors.alreadyInvited.with();
      await this.mails.send(tx, invitation, { ...names, token });
      await this.log(tx, ctx, 'user.invited', invitation);
      const location = `/apis/v1/tenant/invitations/${invitation.id}`;
      return JsonReply.of(envelope(invitation), { status: 201, location });
    });
  }

  async list(ctx: RequestContext, query: ListInvitations): Promise<InvitationListEnvelope> {
    const { tenantId } = ctx;
    const { rows, next } = await this.cursors.page(query, {
      scope: `invitations ${tenantId} ${query.state ?? ''}`,
      key: ({ id }: TenantInvitation): [string] => [id],
      rows: (after, limit) => this.invitations.list(tenantId, query.state, after, limit),
    });
    return { invitations: rows.map(presentInvitation), next };
  }

  /** @throws ApiError 404 */
  async read({ tenantId }: RequestContext, id: string): Promise<InvitationDetailEnvelope> {
    const invitation = await rowsOf(this.db, TenantInvitation).one({ tenant_id: tenantId, id });
    if (!invitation) throw AccessErrors.invitationNotFound.with();
    return { ...envelope(invitation), mail: await this.mails.stateOf(invitation) };
  }

  /** Replaces the link. @throws ApiError 404; 403 `cannot_grant_unheld`; 409 `invitation_ended`; 503 `mail_not_configured` */
  async resend(ctx: RequestContext, id: string): Promise<InvitationEnvelope> {
    const { tenantId } = ctx;
    const names = await this.namesOf(ctx);
    return this.db.tx(async (tx) => {
      const held = await this.authority.begin(tx, ctx, 'users.invite');
      const before = await this.pending(tx, tenantId, id);
      if (before.sent >= MAX_SENT) throw AccessErrors.invitationEnded.with();
      assertHolds(held, await this.groups.permissionsOf(tx, tenantId, before.role, before.group_ids));
      const lifetime = before.expires_at.getTime() - (before.resent_at ?? before.created_at).getTime();
      const { token, hash } = newToken(tenantId);
      const [invitation] = await rowsOf(tx, TenantInvitation).update(
        { tenant_id: tenantId, id },
        {
          token_hash: hash,
          sent: before.sent + 1,
          resent_at: () => 'now()',
          invited_by: ctx.userId,
          expires_at: new Date(Date.now() + Math.min(lifetime, 60 * DAY_MS)),
        },
      );
      await this.mails.send(tx, invitation as TenantInvitation, { ...names, token });
      await this.log(tx, ctx, 'user.invitation.resent', invitation as TenantInvitation);
      return envelope(invitation as TenantInvitation);
    });
  }

  /** @throws ApiError 404; 409 `invitation_ended` */
  async revoke(ctx: RequestContext, id: string): Promise<InvitationEnvelope> {
    const { tenantId } = ctx;
    return this.db.tx(async (tx) => {
      await this.authority.begin(tx, ctx, 'users.invite');
      await this.pending(tx, tenantId, id);
      const invitation = await this.invitations.end(tx, tenantId, id, 'revoked');
      await this.log(tx, ctx, 'user.invitation.revoked', invitation);
      return envelope(invitation);
    });
  }

  /**
   * Creates or replaces the invitation of a user who joins by a verified domain.
   * @returns the mail with its link; null for a member, and for a user with an invitation of an administrator
   */
  async mailForDomain(tenantId: string, email: string, language: Language): Promise<MailContent | null> {
    const workspace = await this.tenants.nameOf(tenantId);
    if (workspace === null || (await this.tenants.findMembers(tenantId, [email])).size > 0) return null;
    const { token, hash } = newToken(tenantId);
    const invitation = await this.storeForDomain(tenantId, email, language, hash);
    return invitation && this.mails.contentFor(invitation, workspace, token);
  }

  /** An example of the mail of `mailForDomain`. */
  previewForDomain(language: Language): MailContent {
    return this.mails.previewForDomain(language);
  }

  private storeForDomain(tenantId: string, email: string, language: Language, tokenHash: Buffer) {
    return this.db.tx(async (tx) => {
      if ((await this.invitations.expire(tx, tenantId, 'domain')) >= QUOTAS.workspace.invitations)
        return null;
      const expiresAt = new Date(Date.now() + DAY_MS);
      // Different addresses can have the same key. The invitation has the address of the mailbox that gets its link.
      const values = { email, token_hash: tokenHash, language, expires_at: expiresAt };
      const key = emailKey(email);
      const rows = rowsOf(tx, TenantInvitation);
      const own = { tenant_id: tenantId, id: uuidv7(), email_key: key, role: 'member' as const };
      const inserted = await rows.insert({ ...own, ...values });
      if (inserted) return inserted;
      const replaced = await rows.update(
        { tenant_id: tenantId, email_key: key, state: 'pending', invited_by: IsNull() },
        // `resend` repeats the lifetime, which begins with the newest link.
        { ...values, resent_at: () => 'now()' },
      );
      return replaced[0] ?? null;
    });
  }

  private async pending(tx: Tx, tenantId: string, id: string): Promise<TenantInvitation> {
    const invitation = await rowsOf(tx, TenantInvitation).lock({ tenant_id: tenantId, id });
    if (!invitation) throw AccessErrors.invitationNotFound.with();
    if (stateOf(invitation) !== 'pending') throw AccessErrors.invitationEnded.with();
    return invitation;
  }

  private async namesOf({ tenantId, userId }: RequestContext) {
    const profile = await this.tenants.profile(tenantId, userId);
    const workspace = (await this.tenants.nameOf(tenantId)) ?? '';
    return { workspace, inviter: profile && { name: profile.displayName, email: profile.email } };
  }

  private async log(
    tx: Tx,
    ctx: RequestContext,
    action: string,
    invitation: TenantInvitation,
  ): Promise<void> {
    const { id, email, role, group_ids } = invitation;
    const data = { email, role, groups: group_ids };
    await this.audit.record(tx, ctx, { action, objectKind: 'invitation', objectId: id, data });
  }
}

const envelope = (invitation: TenantInvitation): InvitationEnvelope => ({
  invitation: presentInvitation(invitation),
});

/** A pending invitation is expired after its expiry, before the hourly job has ended it. */
const stateOf = ({ state, expires_at }: TenantInvitation): TenantInvitation['state'] =>
  state === 'pending' && expires_at.getTime() <= Date.now() ? 'expired' : state;

function presentInvitation(invitation: TenantInvitation): InvitationResponse {
  const { id, email, role, group_ids, message, invited_by, accepted_by, sent, created_at, expires_at } =
    invitation;
  return {
    id,
    email,
    role,
    groups: group_ids,
    message,
    state: stateOf(invitation),
    invited_by,
    accepted_by,
    sent,
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
  };
}
