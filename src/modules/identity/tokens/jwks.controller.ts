import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../../../platform/context/access.decorators.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { JwksResponse } from './jwks.response.js';
import { SigningKeys } from './signing-keys.js';

@ApiTags('identity')
@Controller('.well-known')
export class JwksController {
  constructor(private readonly keys: SigningKeys) {}

  @Endpoint('GET jwks.json', {
    id: 'listSigningKeys',
    summary: 'Signing keys',
    description: 'For services that verify access tokens of this API.',
    response: [JwksResponse, 'A JSON Web Key Set, RFC 7517.'],
    errors: [Errors.badRequest, Errors.overloaded],
  })
  @Public()
  async jwks(): Promise<JwksResponse> {
    return (await this.keys.jwks()) as JwksResponse;
  }
}
