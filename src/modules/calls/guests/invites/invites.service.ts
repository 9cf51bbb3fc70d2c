import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config.js';
import { Audit } from '../../../../platform/audit/audit.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import { Errors, fieldError } from '../../../../platform/http/errors.js';
import type { Checked } from '../../../../platform/http/input.pipe.js';
import { JsonReply, withMembers } from '../../../../platform/http/json-reply.js';
import { Cursors } from '../../../../platform/paging/cursors.js';
import { newToken } from '../../../../platform/secrets/secret-box.js';
import { ChatApi } from '../../../chat/index.js';
import { TenantProfileService, TenantsApi } from '../../../tenants/index.js';
import { CallAccess } from '../../call-access.js';
import { CallErrors } from '../../calls.dto.js';
import { Kicks } from '../../changes/kicks.js';
import { ApprovalChanges } from '../changes/approval-changes.js';
import { GuestCodes } from '../guest-codes.js';
import { GuestErrors } from '../guests.dto.js';
import { inviteReply, revokedInviteReply } from '../guests.presenter.js';
import { GuestMails } from '../mails/guest-mails.js';
import { isRegistrable } from '../model/guest-input.js';
import { allowsDomain } from '../model/guest-rules.js';
import { type InviteInput, inviteValues } from './invite-values.js';
import type {
  ChatLinkEnvelope,
  CreateChatLink,
  CreatedInvitesEnvelope,
  CreateRoomInvites,
  DomainRequestEnvelope,
  InviteEnvelope,
  InviteListEnvelope,
  ListInvites,
  RequestDomain,
  RevokedInviteEnvelope,
} from './invites.dto.js';
import { type InviteScope, InvitesRepository, type InviteTarget } from './invites.repository.js';

/** Addresses of invites. */
@Injectable()
export class GuestLinks {
  constructor(private readonly config: Config) {}

  /** The page of the web client for guests, with the token in the fragment. If none is configured: the status route. */
  urlOf(token: string): string {
    const { GUEST_PAGE_URL: page, publicUrl } = this.config;
    return page === undefined ? `${publicUrl}/apis/v1/call/external/${token}/status` : `${page}#${token}`;
  }
}

/** Invites to calls and chat rooms, for members. */
@Injectable()
export class InvitesService {
  constructor(
    private readonly invites: InvitesRepository,
    private readonly access: CallAccess,
    private readonly chat: ChatApi,
    private readonly tenants: TenantsApi,
    private readonly profiles: TenantProfileService,
    private readonly codes: GuestCodes,
    private readonly links: GuestLinks,
    private readonly mails: GuestMails,
    private readonly kicks: Kicks,
    private readonly approvals: ApprovalChanges,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 403 `domain_not_allowed`, 404, 409 `call_ended`, 422 */
  async createForCall(
    ctx: RequestContext,
    callId: string,
    input: InviteInput,
  ): Promise<JsonReply<CreatedInvitesEnvelope>> {
    const target = await this.invites.target(ctx, { callId });
    if (!target) throw CallErrors.callNotFound.with();
    if (target.call_state === 'ended') throw CallErrors.callEnded.with();
    return this.create(ctx, target, input);
  }

  /** Owners and moderators may create one. @throws ApiError 403, 404, 409 `room_archived`, 422 `direct_room` */
  async createForRoom(
    ctx: RequestContext,
    roomId: string,
    body: Checked<CreateRoomInvites>,
  ): Promise<JsonReply<CreatedInvitesEnvelope>> {
    const target = await this.invites.target(ctx, { roomId });
    if (!target) throw GuestErrors.roomNotFound.with();
    if (target.room_type === 'direct') throw GuestErrors.directRoom.with();
    if (!target.moderates && !(await this.access.holds(ctx, 'chat.rooms.moderate')))
      throw Errors.forbidden.with();
    if (target.room_archived) throw CallErrors.roomArchived.with();
    return this.create(ctx, target, body.value);
  }

  async list(
    ctx: RequestContext,
    scope: InviteScope,
    query: ListInvites,
  ): Promise<JsonReply<InviteListEnvelope>> {
    await this.assertRoom(ctx, scope);
    const seesAll = await this.access.holds(ctx, 'guests.review');
    const { call_id = '', state = '' } = query;
    const { rows, next } = await this.cursors.page(query, {
      scope: `invites ${ctx.tenantId} ${ctx.userId} ${scope.roomId ?? ''} ${call_id} ${state}`,
      key: (row: { id: string; invite: string }): [string] => [row.id],
      rows: (after, limit) => this.invites.list(ctx, scope, seesAll, query, after?.[0], limit),
    });
    return JsonReply.listOf(
      'invites',
      rows.map(({ invite }) => invite),
      { next },
    );
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, scope: InviteScope, id: string): Promise<JsonReply<InviteEnvelope>> {
    return inviteReply(await this.find(ctx, scope, id));
  }

  /** Ends the access of all guests of the invite. @throws ApiError 404 */
  async revoke(
    ctx: RequestContext,
    scope: InviteScope,
    id: string,
  ): Promise<JsonReply<RevokedInviteEnvelope>> {
    await this.find(ctx, scope, id);
    const ended = await this.db.tx(async (tx) => {
      // Does not check the state: it is `revoked` while the creator has no access, and becomes `active` again with the access.
      if (!(await this.invites.revoke(tx, ctx, id))) return [];
      await this.audit.record(tx, ctx, {
        action: 'calls.invite.revoked',
        objectKind: 'external_invite',
        objectId: id,
      });
      const guests = await this.invites.endGuests(tx, ctx, id);
      for (const guest of guests.filter(({ was_waiting }) => was_waiting))
        tx.afterCommit(() => this.approvals.reportChange(ctx.tenantId, guest.id));
      return guests;
    });
    await this.kicks.kickGuests(ctx.tenantId, ended);
    return revokedInviteReply(await this.find(ctx, scope, id));
  }

  /**
   * Creates a link to the chat, which replaces the previous one. The permission `guests.review` alone is not enough, because each
   * bearer of the token can become a guest in the chat of the room.
   * @throws ApiError 403 `chat_not_allowed`, 404, 422 `no_chat_room`
   */
  async createChatLink(
    ctx: RequestContext,
    scope: InviteScope,
    id: string,
    body: Checked<CreateChatLink>,
  ): Promise<ChatLinkEnvelope> {
    const invite = JSON.parse(await this.find(ctx, scope, id, false)) as {
      state: string;
      expires_at: string;
    };
    if (invite.state === 'revoked') throw GuestErrors.inviteRevoked.with();
    if (invite.state === 'expired') throw GuestErrors.inviteExpired.with();
    const { expires_at } = body.value;
    const end = new Date(invite.expires_at);
    if (expires_at && (expires_at > end || expires_at <= new Date()))
      throw fieldError(
        'expires_at',
        'out_of_range',
        'expires_at must be in the future and before the end of the invite',
      );
    const { token, hash } = newToken(ctx.tenantId);
    const row = await this.db.tx(async (tx) => {
      const updated = await this.invites.update(tx, ctx, id, {
        chat_token_hash: hash,
        chat_expires_at: expires_at ?? end,
      });
      if (updated.room_id === null) throw GuestErrors.noChatRoom.with();
      if (!updated.chat_allowed) throw GuestErrors.chatNotAllowed.with();
      return updated;
    });
    const expires = (row.chat_expires_at as Date).toISOString();
    return {
      chat_link: { url: this.links.urlOf(token), token, room_id: row.room_id as string, expires_at: expires },
    };
  }

  /** @throws ApiError 404 */
  async deleteChatLink(ctx: RequestContext, scope: InviteScope, id: string): Promise<{ deleted: true }> {
    await this.find(ctx, scope, id);
    await this.db.tx((tx) =>
      this.invites.update(tx, ctx, id, { chat_token_hash: null, chat_expires_at: null }),
    );
    return { deleted: true };
  }

  /** @throws ApiError 404 for an unknown room, 422 `invalid_domain` */
  async requestDomain(
    ctx: RequestContext,
    scope: InviteScope,
    body: Checked<RequestDomain>,
  ): Promise<JsonReply<DomainRequestEnvelope>> {
    await this.assertRoom(ctx, scope);
    const { domain, reason } = body.value;
    const { domains } = (await this.profiles.read(ctx.tenantId)).tenant;
    const isOwn = domains.some((own) => own.domain === domain);
    if (isOwn || !isRegistrable(domain)) throw GuestErrors.invalidDomain.with();
    return this.db.tx(async (tx) => {
      const { is_new, ...request } = await this.invites.requestDomain(tx, ctx, domain, reason);
      if (is_new) {
        const recipients = await this.invites.administrators(tx, ctx);
        await this.approvals.domainRequested(tx, ctx, request.id, recipients);
      }
      return JsonReply.of(
        { domain_request: { domain, ...request } },
        {
          status: is_new ? 201 : 200,
        },
      );
    });
  }

  private async create(
    ctx: RequestContext,
    target: InviteTarget,
    input: InviteInput,
  ): Promise<JsonReply<CreatedInvitesEnvelope>> {
    const rows = inviteValues(target, input);
    const domains = [
      ...new Set(rows.flatMap(({ email }) => (email ? [email.slice(email.lastIndexOf('@') + 1)] : []))),
    ];
    const known = await this.invites.domainStates(ctx, domains);
    const rejected = known.find(({ state }) => !allowsDomain(state, this.codes));
    if (rejected)
      throw GuestErrors.domainNotAllowed.with({ body: { domain: rejected.domain, can_request: true } });
    const inviter = await this.tenants.profile(ctx.tenantId, ctx.userId);
    const created = await this.db.tx(async (tx) => {
      await this.invites.openQuota.take(tx, ctx.tenantId, ctx.userId, rows.length);
      const made: { id: string; token: string }[] = [];
      for (const row of rows) {
        const { token, hash: tokenHash } = newToken(ctx.tenantId);
        const id = await this.invites.insert(tx, ctx, { ...row, token_hash: tokenHash });
        made.push({ id, token });
        if (row.email && inviter && input.send_email !== false)
          await this.mails.sendInvite(
            tx,
            ctx.tenantId,
            { email: row.email, locale: input.locale },
            `guest-invite ${id}`,
            {
              title: target.title,
              inviter: inviter.displayName,
              inviterEmail: inviter.email,
              message: input.message ?? '',
              url: this.links.urlOf(token),
            },
          );
        const data = { call_id: row.call_id, room_id: row.room_id, kind: row.kind };
        await this.audit.record(tx, ctx, {
          action: 'calls.invite.created',
          objectKind: 'external_invite',
          objectId: id,
          data,
        });
      }
      return made;
    });
    const scope = { roomId: target.call_id === null ? target.room_id : null };
    const invites = await Promise.all(
      created.map(async ({ id, token }) => {
        const json = await this.invites.read(this.db, ctx, scope, true, id);
        return withMembers(json as string, { token, url: this.links.urlOf(token) });
      }),
    );
    return JsonReply.listOf('invites', invites, {}, { status: 201 });
  }

  /** @param seesAll default: by the permission `guests.review` */
  private async find(
    ctx: RequestContext,
    scope: InviteScope,
    id: string,
    seesAll?: boolean,
  ): Promise<string> {
    seesAll ??= await this.access.holds(ctx, 'guests.review');
    const invite = await this.invites.read(this.db, ctx, scope, seesAll, id);
    if (invite === undefined) throw GuestErrors.invitesNotFound.with();
    return invite;
  }

  private async assertRoom(ctx: RequestContext, { roomId }: InviteScope): Promise<void> {
    if (roomId !== null && !(await this.chat.room(ctx, roomId))) throw GuestErrors.roomNotFound.with();
  }
}
