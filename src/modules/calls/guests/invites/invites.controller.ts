import { Body, Controller, Query, type Type } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../../platform/context/request-context.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { Errors } from '../../../../platform/http/errors.js';
import { Id } from '../../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../../platform/http/input.pipe.js';
import { QuotaErrors } from '../../../../platform/quotas/quotas.dto.js';
import { CallErrors } from '../../calls.dto.js';
import { GuestErrors } from '../guests.dto.js';
import { INVITE_TREES, type InviteTree, Scope, ScopeParam } from '../invite-scope.js';
import {
  ChatLinkEnvelope,
  CreateChatLink,
  CreatedInvitesEnvelope,
  CreateInvites,
  CreateRoomInvites,
  DeletedChatLinkEnvelope,
  DomainRequestEnvelope,
  InviteEnvelope,
  InviteListEnvelope,
  ListInvites,
  RequestDomain,
  RevokedInviteEnvelope,
} from './invites.dto.js';
import type { InviteScope } from './invites.repository.js';
import { InvitesService } from './invites.service.js';

const CREATE = {
  description:
    'One personal invite for each address, sent by mail, or one link. The tokens are in this response only.',
  status: 201 as const,
  response: [CreatedInvitesEnvelope, 'The invites with their tokens.'] as const,
};

@ApiTags('guests')
@Controller(INVITE_TREES.call.path)
export class CallInviteCreationController {
  constructor(private readonly invites: InvitesService) {}

  @Endpoint('POST', {
    ...CREATE,
    id: 'createExternalInvites',
    summary: 'Invite guests to a call',
    example: { call_id: '01890a5d-ac96-774b-bcce-b302099a8057', emails: ['gina@partner.example'] },
    errors: [
      QuotaErrors.exceeded,
      CallErrors.callNotFound,
      CallErrors.callEnded,
      GuestErrors.domainNotAllowed,
    ],
  })
  @Requires('guests.invite')
  create(@Ctx() ctx: RequestContext, @Body() body: CreateInvites) {
    return this.invites.createForCall(ctx, body.call_id, body);
  }
}

@ApiTags('guests')
@Controller(INVITE_TREES.chat_room.path)
export class RoomInviteCreationController {
  constructor(private readonly invites: InvitesService) {}

  @Endpoint('POST', {
    ...CREATE,
    id: 'createExternalInvitesOfRoom',
    summary: 'Invite guests to a chat room',
    description: `${CREATE.description} Guests may also join the calls of the room. For owners and moderators.`,
    example: { kind: 'link', name: 'Auditors' },
    errors: [
      QuotaErrors.exceeded,
      GuestErrors.roomNotFound,
      GuestErrors.directRoom,
      GuestErrors.domainNotAllowed,
      CallErrors.roomArchived,
      Errors.forbidden,
    ],
  })
  @Requires('guests.invite')
  create(
    @Ctx() ctx: RequestContext,
    @Id('chat_room_id') roomId: string,
    @CheckedBody(CreateRoomInvites) body: Checked<CreateRoomInvites>,
  ) {
    return this.invites.createForRoom(ctx, roomId, body);
  }
}

/** The routes that both trees have. */
function InvitesController(tree: InviteTree): Type {
  const { path, suffix } = INVITE_TREES[tree];
  const room = tree === 'call' ? [] : [GuestErrors.roomNotFound, Errors.invalidId];

  @ApiTags('guests')
  @Controller(path)
  class ExternalInvitesController {
    constructor(private readonly invites: InvitesService) {}

    @ScopeParam(tree)
    @Endpoint('GET', {
      id: `listExternalInvites${suffix}`,
      summary: 'List invites',
      description:
        'Your invites, and invites to calls and rooms that you host or moderate; with the permission `guests.review`, all invites. The newest first.',
      response: [InviteListEnvelope, 'A page of invites, without tokens.'],
      errors: room,
    })
    list(@Ctx() ctx: RequestContext, @Scope() scope: InviteScope, @Query() query: ListInvites) {
      return this.invites.list(ctx, scope, query);
    }

    @ScopeParam(tree)
    @Endpoint('POST domain_request', {
      id: `requestGuestDomain${suffix}`,
      summary: 'Request that a domain is allowed for guests',
      description: 'Administrators decide. A known request is returned with status 200.',
      status: 201,
      response: [DomainRequestEnvelope, 'The new request.'],
      unchanged: 'The request that exists, or the decision.',
      errors: [GuestErrors.invalidDomain, ...room],
    })
    @Requires('guests.invite')
    requestDomain(
      @Ctx() ctx: RequestContext,
      @Scope() scope: InviteScope,
      @CheckedBody(RequestDomain) body: Checked<RequestDomain>,
    ) {
      return this.invites.requestDomain(ctx, scope, body);
    }

    @ScopeParam(tree)
    @Endpoint('GET :invite_id', {
      id: `readExternalInvite${suffix}`,
      summary: 'Read an invite',
      description: 'For users who can list the invite. The token is never returned again.',
      response: [InviteEnvelope, 'The invite, without its token.'],
      errors: [GuestErrors.invitesNotFound, ...room],
    })
    read(@Ctx() ctx: RequestContext, @Scope() scope: InviteScope, @Id('invite_id') id: string) {
      return this.invites.read(ctx, scope, id);
    }

    @ScopeParam(tree)
    @Endpoint('DELETE :invite_id', {
      id: `revokeExternalInvite${suffix}`,
      summary: 'Revoke an invite',
      description: 'The guests of the invite lose their access at once and are disconnected.',
      response: [RevokedInviteEnvelope, 'The revoked invite.'],
      errors: [GuestErrors.invitesNotFound, ...room],
    })
    revoke(@Ctx() ctx: RequestContext, @Scope() scope: InviteScope, @Id('invite_id') id: string) {
      return this.invites.revoke(ctx, scope, id);
    }

    @ScopeParam(tree)
    @Endpoint('POST :invite_id/chat_link', {
      id: `createGuestChatLink${suffix}`,
      summary: 'Create a link to the chat only',
      description:
        'The new link replaces the previous one. The token is in this response only. For the creator of the invite, hosts and moderators; the permission `guests.review` does not suffice.',
      status: 201,
      optionalBody: true,
      response: [ChatLinkEnvelope, 'The link.'],
      errors: [
        GuestErrors.invitesNotFound,
        GuestErrors.inviteExpired,
        GuestErrors.inviteRevoked,
        GuestErrors.chatNotAllowed,
        GuestErrors.noChatRoom,
        ...room,
      ],
    })
    createChatLink(
      @Ctx() ctx: RequestContext,
      @Scope() scope: InviteScope,
      @Id('invite_id') id: string,
      @CheckedBody(CreateChatLink) body: Checked<CreateChatLink>,
    ): Promise<ChatLinkEnvelope> {
      return this.invites.createChatLink(ctx, scope, id, body);
    }

    @ScopeParam(tree)
    @Endpoint('DELETE :invite_id/chat_link', {
      id: `deleteGuestChatLink${suffix}`,
      summary: 'Delete the link to the chat',
      description: 'Guests can no longer join by this link. The invite and its other link stay valid.',
      response: [DeletedChatLinkEnvelope, 'The link does not work any more.'],
      errors: [GuestErrors.invitesNotFound, ...room],
    })
    deleteChatLink(
      @Ctx() ctx: RequestContext,
      @Scope() scope: InviteScope,
      @Id('invite_id') id: string,
    ): Promise<DeletedChatLinkEnvelope> {
      return this.invites.deleteChatLink(ctx, scope, id);
    }
  }
  return ExternalInvitesController;
}

export const CallInvitesController = InvitesController('call');
export const RoomInvitesController = InvitesController('chat_room');
