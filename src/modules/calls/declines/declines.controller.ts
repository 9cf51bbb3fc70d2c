import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { CallErrors } from '../calls.errors.js';
import { CallDeclines } from './call-declines.js';
import { DeclinedCallResponse } from './declines.dto.js';

@ApiTags('meetings')
@Controller('call')
export class CallDeclinesController {
  constructor(private readonly declines: CallDeclines) {}

  @Endpoint('POST :call_id/decline', {
    id: 'declineCall',
    summary: 'Decline a live call',
    description:
      'The host and your other clients receive the socket event `call.declined`, and you get no notification of a missed call. You may still join. For clients without a socket, such as the handler of a push message.',
    status: 200,
    response: [DeclinedCallResponse, 'The call is declined.'],
    errors: [CallErrors.callNotFound, CallErrors.callNotLive],
  })
  decline(@Ctx() ctx: RequestContext, @Id('call_id') callId: string): Promise<DeclinedCallResponse> {
    return this.declines.decline(ctx, callId);
  }
}
