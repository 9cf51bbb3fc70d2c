import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { ScimErrors } from '../scim.errors.js';
import { CreateScimToken } from './scim-tokens.dto.js';
import { ScimTokenEnvelope, ScimTokenListEnvelope, ScimTokenSecretEnvelope } from './scim-tokens.response.js';
import { ScimTokensService } from './scim-tokens.service.js';

@ApiTags('tenant')
@Controller('tenant/scim/tokens')
export class ScimTokensController {
  constructor(private readonly tokens: ScimTokensService) {}

  @Endpoint('POST', {
    id: 'createScimToken',
    summary: 'Create a token for an identity provider',
    description:
      'With the token, the identity provider creates, changes and deactivates members and groups of the workspace (SCIM 2.0, `/apis/v1/scim/v2`). It stays valid when its creator leaves.',
    status: 201,
    response: [ScimTokenSecretEnvelope, 'The token, and its secret, which is not returned again.'],
    errors: [ScimErrors.tooManyTokens],
  })
  @Requires('scim.manage')
  create(@Ctx() ctx: RequestContext, @Body() body: CreateScimToken): Promise<ScimTokenSecretEnvelope> {
    return this.tokens.create(ctx, body);
  }

  @Endpoint('GET', {
    id: 'listScimTokens',
    summary: 'List the tokens of identity providers',
    description: 'With name, lifetime and last use, without the secrets.',
    response: [ScimTokenListEnvelope, 'All tokens, oldest first.'],
  })
  @Requires('scim.manage')
  list(@Ctx() ctx: RequestContext): Promise<ScimTokenListEnvelope> {
    return this.tokens.list(ctx);
  }

  @Endpoint('POST :token_id/rotate', {
    id: 'rotateScimToken',
    summary: 'Replace the secret of a token',
    description: 'The previous secret is invalid at once. A limited lifetime starts again.',
    status: 200,
    response: [ScimTokenSecretEnvelope, 'The token, and its new secret, which is not returned again.'],
    errors: [ScimErrors.tokenNotFound],
  })
  @Requires('scim.manage')
  rotate(@Ctx() ctx: RequestContext, @Id('token_id') id: string): Promise<ScimTokenSecretEnvelope> {
    return this.tokens.rotate(ctx, id);
  }

  @Endpoint('DELETE :token_id', {
    id: 'revokeScimToken',
    summary: 'Revoke a token',
    description: 'The secret is invalid at once. Members and groups stay.',
    response: [ScimTokenEnvelope, 'The revoked token.'],
    errors: [ScimErrors.tokenNotFound],
  })
  @Requires('scim.manage')
  revoke(@Ctx() ctx: RequestContext, @Id('token_id') id: string): Promise<ScimTokenEnvelope> {
    return this.tokens.revoke(ctx, id);
  }
}
