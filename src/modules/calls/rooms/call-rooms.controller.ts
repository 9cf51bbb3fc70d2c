import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.errors.js';
import { CallEnvelope, CallRoomEnvelope } from '../call.response.js';
import { CallErrors } from '../calls.errors.js';
import { CreateCallRoom } from './call-rooms.dto.js';
import { CallRoomsService } from './call-rooms.service.js';

@ApiTags('meetings')
@Controller('call')
export class CallRoomsController {
  constructor(private readonly rooms: CallRoomsService) {}

  @Endpoint('POST rooms', {
    id: 'createCallRoom',
    summary: 'Create or find a call',
    description:
      'With `room_id`: the live call of that chat room, or a new one. A room has one live call. The members of the room may join; the room shows the call as a message of the kind `call`. To join, mint a token.',
    status: 201,
    location: true,
    response: [CallRoomEnvelope, 'The new call.'],
    unchanged: 'The live call of the room, or the call with the same `client_id`.',
    example: { title: 'Offsite 2027', settings: { lobby: true, otp: true } },
    errors: [
      QuotaErrors.exceeded,
      CallErrors.callNotFound,
      CallErrors.roomNotFound,
      CallErrors.userNotFound,
      CallErrors.roomArchived,
      CallErrors.serverNotConfigured,
    ],
  })
  @Requires('calls.start')
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateCallRoom,
  ) {
    return this.rooms.create(ctx, key, body);
  }

  @Endpoint('GET :call_id', {
    id: 'readCall',
    summary: 'Read a call',
    description: 'For users who may join the call, also after its end.',
    response: [CallEnvelope, 'The call.'],
    errors: [CallErrors.callNotFound],
  })
  read(@Ctx() ctx: RequestContext, @Id('call_id') callId: string) {
    return this.rooms.read(ctx, callId);
  }

  @Endpoint('POST :call_id/end', {
    id: 'endCall',
    summary: 'End a call for all participants',
    description:
      'For the host, moderators of the room, and members with the permission `calls.moderate`. Does nothing to a call that has ended.',
    status: 200,
    response: [CallEnvelope, 'The ended call.'],
    errors: [CallErrors.callNotFound, Errors.forbidden],
  })
  end(@Ctx() ctx: RequestContext, @Id('call_id') callId: string) {
    return this.rooms.end(ctx, callId);
  }
}
