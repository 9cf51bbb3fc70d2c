import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { RateLimited, type RouteLimit } from '../../../platform/rate-limits/rate-limit.guard.js';
import { AccessErrors } from '../access.dto.js';
import {
  CreateInvitation,
  InvitationDetailEnvelope,
  InvitationEnvelope,
  InvitationListEnvelope,
  ListInvitations,
} from './invitations.dto.js';
import { InvitationsService } from './invitations.service.js';

/** Each request sends a mail. */
const MAIL_LIMIT: RouteLimit = {
  scope: 'invitation-mails',
  by: 'account',
  requests: 200,
  perSeconds: 3_600,
  burst: 100,
};

@ApiTags('tenant')
@Controller('tenant/invitations')
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @Endpoint('POST', {
    id: 'createInvitation',
    summary: 'Invite a user by e-mail',
    description:
      'Sends a link that is valid once. Its recipient creates an account or signs in to an existing one, and becomes a member with the role and the groups. The invitation ends when its creator loses the permissions that it gives.',
    status: 201,
    location: true,
    response: [InvitationEnvelope, 'The invitation.'],
    errors: [
      AccessErrors.cannotGrantUnheld,
      AccessErrors.alreadyMember,
      AccessErrors.alreadyInvited,
      AccessErrors.unknownGroup,
      AccessErrors.tooManyInvitations,
      AccessErrors.mailNotConfigured,
      Errors.tooManyRequests,
    ],
  })
  @Requires('users.invite')
  @RateLimited(MAIL_LIMIT)
  create(@Ctx() ctx: RequestContext, @Body() body: CreateInvitation) {
    return this.invitations.create(ctx, body);
  }

  @Endpoint('GET', {
    id: 'listInvitations',
    summary: 'List the invitations of the workspace',
    description: 'Oldest first. An invitation is deleted 90 days after its end.',
    response: [InvitationListEnvelope, 'A page of invitations.'],
  })
  @Requires('users.invite')
  list(@Ctx() ctx: RequestContext, @Query() query: ListInvitations): Promise<InvitationListEnvelope> {
    return this.invitations.list(ctx, query);
  }

  @Endpoint('GET :invitation_id', {
    id: 'readInvitation',
    summary: 'Read an invitation and the state of its mail',
    description:
      'The state of the mail shows whether the link was delivered to the mail server, and the error if it was not.',
    response: [InvitationDetailEnvelope, 'The invitation.'],
    errors: [AccessErrors.invitationNotFound],
  })
  @Requires('users.invite')
  read(@Ctx() ctx: RequestContext, @Id('invitation_id') id: string): Promise<InvitationDetailEnvelope> {
    return this.invitations.read(ctx, id);
  }

  @Endpoint('POST :invitation_id/resend', {
    id: 'resendInvitation',
    summary: 'Send the link of an invitation again',
    description: 'The new link replaces the earlier one and is valid for as many days. At most ten mails.',
    status: 200,
    response: [InvitationEnvelope, 'The invitation.'],
    errors: [
      AccessErrors.invitationNotFound,
      AccessErrors.invitationEnded,
      AccessErrors.cannotGrantUnheld,
      AccessErrors.mailNotConfigured,
      Errors.tooManyRequests,
    ],
  })
  @Requires('users.invite')
  @RateLimited(MAIL_LIMIT)
  resend(@Ctx() ctx: RequestContext, @Id('invitation_id') id: string): Promise<InvitationEnvelope> {
    return this.invitations.resend(ctx, id);
  }

  @Endpoint('DELETE :invitation_id', {
    id: 'revokeInvitation',
    summary: 'Revoke an invitation',
    description: 'The link becomes invalid.',
    response: [InvitationEnvelope, 'The revoked invitation.'],
    errors: [AccessErrors.invitationNotFound, AccessErrors.invitationEnded],
  })
  @Requires('users.invite')
  revoke(@Ctx() ctx: RequestContext, @Id('invitation_id') id: string): Promise<InvitationEnvelope> {
    return this.invitations.revoke(ctx, id);
  }
}
