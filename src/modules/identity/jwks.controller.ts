import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Public } from '../../platform/context/access.decorators.js';
import { Operation } from '../../platform/http/api-docs.js';
import { Errors } from '../../platform/http/errors.js';
import { JwksResponse } from './jwks.response.js';
import { SigningKeys } from './signing-keys.js';

@Controller('.well-known')
export class JwksController {
  constructor(private readonly keys: SigningKeys) {}

  @Operation({
    tag: 'identity',
    id: 'listSigningKeys',
    summary: 'Signing keys',
    description: 'For services that verify access tokens of this API.',
    errors: [Errors.badRequest, Errors.overloaded],
  })
  @ApiOkResponse({ type: JwksResponse, description: 'A JSON Web Key Set, RFC 7517.' })
  @Public()
  @Get('jwks.json')
  async jwks(): Promise<JwksResponse> {
    return (await this.keys.jwks()) as JwksResponse;
  }
}
