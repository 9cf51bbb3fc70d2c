import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../../platform/context/request-context.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { Errors } from '../../../../platform/http/errors.js';
import { Id } from '../../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../../platform/http/input.pipe.js';
import { CallEnvelope } from '../../call.response.js';
import { CallErrors } from '../../calls.errors.js';
import { LockExternal, RemoveGuest } from './moderation.dto.js';
import { RemovedGuestEnvelope } from './moderation.response.js';
import { GuestModerationService } from './moderation.service.js';

const FOR = 'For the host, moderators of the room, and members with the permission `calls.moderate`.';

@ApiTags('meetings')
@Controller('call')
export class GuestModerationController {
  constructor(private readonly moderation: GuestModerationService) {}

  @Endpoint('POST :call_id/external/lock', {
    id: 'lockExternalAccess',
    summary: 'Lock a call against new guests, or unlock it',
    description: `${FOR} Guests get no new codes and tokens while the call is locked.`,
    status: 200,
    response: [CallEnvelope, 'The call.'],
    optionalBody: true,
    errors: [CallErrors.callNotFound, Errors.forbidden, CallErrors.callEnded],
  })
  lock(
    @Ctx() ctx: RequestContext,
    @Id('call_id') callId: string,
    @CheckedBody(LockExternal) body: Checked<LockExternal>,
  ) {
    return this.moderation.lock(ctx, callId, body);
  }

  @Endpoint('POST :call_id/external/participants/:guest_id/remove', {
    id: 'removeExternalParticipant',
    summary: 'Remove a guest from a call',
    description: `${FOR} Works also while the media server is not available: the guest is disconnected later.`,
    status: 200,
    response: [RemovedGuestEnvelope, 'The guest is removed.'],
    optionalBody: true,
    errors: [CallErrors.callNotFound, CallErrors.guestNotFound, Errors.forbidden],
  })
  remove(
    @Ctx() ctx: RequestContext,
    @Id('call_id') callId: string,
    @Id('guest_id') guestId: string,
    @CheckedBody(RemoveGuest) body: Checked<RemoveGuest>,
  ): Promise<RemovedGuestEnvelope> {
    return this.moderation.remove(ctx, callId, guestId, body);
  }
}
