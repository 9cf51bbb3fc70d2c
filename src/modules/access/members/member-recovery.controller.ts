import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { SecurityErrors } from '../../account-security/index.js';
import { AccessErrors } from '../access.errors.js';
import {
  MemberSessionListEnvelope,
  MemberSessionsEnded,
  SecondFactorResetEnvelope,
} from './member-recovery.response.js';
import { MemberRecoveryService } from './member-recovery.service.js';

const ERRORS = [AccessErrors.tenantMemberNotFound, AccessErrors.cannotGrantUnheld];

@ApiTags('tenant')
@Controller('tenant/members/:user_id')
export class MemberRecoveryController {
  constructor(private readonly recovery: MemberRecoveryService) {}

  @Endpoint('GET sessions', {
    id: 'listMemberSessions',
    summary: 'List the sessions of a member in this workspace',
    description: 'Devices on which the member is signed in to this workspace, without tokens.',
    response: [MemberSessionListEnvelope, 'The sessions.'],
    errors: ERRORS,
  })
  @Requires('users.recover')
  sessions(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<MemberSessionListEnvelope> {
    return this.recovery.sessions(ctx, userId);
  }

  @Endpoint('DELETE sessions', {
    id: 'endMemberSessions',
    summary: 'End all sessions of a member in this workspace',
    description:
      'Their tokens become invalid within five seconds. You must hold all permissions of the member.',
    response: [MemberSessionsEnded, 'Number of ended sessions.'],
    errors: ERRORS,
  })
  @Requires('users.recover')
  endAll(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<MemberSessionsEnded> {
    return this.recovery.endSessions(ctx, userId, null);
  }

  @Endpoint('DELETE sessions/:session_id', {
    id: 'endMemberSession',
    summary: 'End one session of a member in this workspace',
    description:
      'Its tokens become invalid within five seconds. You must hold all permissions of the member.',
    response: [MemberSessionsEnded, 'Number of ended sessions.'],
    errors: [...ERRORS, AccessErrors.sessionNotFound],
  })
  @Requires('users.recover')
  end(
    @Ctx() ctx: RequestContext,
    @Id('user_id') userId: string,
    @Id('session_id') sessionId: string,
  ): Promise<MemberSessionsEnded> {
    return this.recovery.endSessions(ctx, userId, sessionId);
  }

  @Endpoint('POST second-factor/reset', {
    id: 'resetMemberSecondFactor',
    summary: 'Remove the lost second factor of a member',
    description:
      'Ends all sessions of the account, and notifies the member. You must hold all permissions of the member. For an owner, two members must send the request within a day, at least one of them an owner. A member of several workspaces is recovered by the operator.',
    status: 200,
    response: [SecondFactorResetEnvelope, 'The state of the reset.'],
    errors: [
      ...ERRORS,
      AccessErrors.memberOfOtherWorkspaces,
      SecurityErrors.notEnabled,
      SecurityErrors.managedExternally,
    ],
  })
  @Requires('users.recover')
  reset(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<SecondFactorResetEnvelope> {
    return this.recovery.resetSecondFactor(ctx, userId);
  }
}
