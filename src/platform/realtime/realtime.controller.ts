import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../context/request-context.js';
import { Endpoint } from '../http/endpoint.js';
import { Errors } from '../http/errors.js';
import { SOCKET_PATH } from '../http/server/client-error.js';
import { RateLimited } from '../rate-limits/rate-limit.guard.js';
import { SocketTokenEnvelope } from './realtime.response.js';
import { SocketTokens, TOKEN_SECONDS } from './socket-tokens.js';

@ApiTags('auth')
@Controller('auth/socket/token')
export class SocketTokenController {
  constructor(private readonly tokens: SocketTokens) {}

  @Endpoint('POST', {
    id: 'createSocketToken',
    summary: 'Create a token for a socket',
    description:
      'For one connection to the Socket.IO server of this API, which uses the websocket transport only. The socket ends with the session of this request.',
    status: 201,
    response: [SocketTokenEnvelope, 'The token. It is valid for one connection.'],
    errors: [Errors.tooManyRequests],
  })
  @RateLimited({ scope: 'socket-tokens', by: 'account', requests: 60, perSeconds: 60 })
  async create(@Ctx() ctx: RequestContext): Promise<SocketTokenEnvelope> {
    const token = await this.tokens.issue(ctx);
    return { token, expires_in: TOKEN_SECONDS, url: SOCKET_PATH, protocol: 'socket.io/4' };
  }
}
