import { Controller, Injectable, Req } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiProperty, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import {
  AuthenticatedBy,
  Public,
  type RequestAuthenticator,
} from '../../../platform/context/access.decorators.js';
import { BytesBody } from '../../../platform/http/body/body.guard.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { CallServer } from '../call-server.js';
import { CallErrors } from '../calls.dto.js';
import { ServerEvents } from '../server-events.js';

const MEDIA_TYPE = 'application/webhook+json';
const MAX_BYTES = 256 * 1024;

class HandledEventResponse {
  @ApiProperty({ enum: [true], example: true }) received!: true;
}

/** Verifies the signature before the body is read. */
@Injectable()
export class EventSignature implements RequestAuthenticator {
  constructor(private readonly server: CallServer) {}

  authenticate({ headers }: Request): Promise<void> {
    return this.server.assertSigned(headers.authorization);
  }
}

/** Events of LiveKit. The signature covers the bytes of the body. */
@ApiTags('meetings')
@Controller('call/livekit')
export class WebhookController {
  constructor(
    private readonly server: CallServer,
    private readonly events: ServerEvents,
  ) {}

  @Endpoint('POST webhook', {
    id: 'receiveLiveKitEvent',
    summary: 'Receive an event of LiveKit',
    description:
      'For LiveKit only: `Authorization` is a token, without a scheme, that LiveKit signs with the API secret. A repeated event, and one of an unknown room, changes nothing.',
    status: 200,
    response: [HandledEventResponse, 'The event was handled.'],
    errors: [
      Errors.unauthorized,
      Errors.bodyTooLarge,
      Errors.unsupportedMediaType,
      CallErrors.serverNotConfigured,
    ],
  })
  @ApiConsumes(MEDIA_TYPE)
  @ApiBody({ schema: { type: 'object' } })
  @BytesBody({ types: [MEDIA_TYPE], limit: MAX_BYTES })
  @Public()
  @AuthenticatedBy(EventSignature)
  async receive(@Req() request: Request): Promise<HandledEventResponse> {
    const body = (request.body as Buffer).toString('utf8');
    const event = await this.server.receiveEvent(body, request.headers.authorization);
    if (event) await this.events.handle(event);
    return { received: true };
  }
}
