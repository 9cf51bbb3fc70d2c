import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import type { Identity } from './request-context.js';
import { TokenResolver } from './token-resolver.js';

/** RFC 6750 bearer tokens. The library also accepts tokens in query and body, so it receives only the header. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, 'bearer') {
  constructor(private readonly tokens: TokenResolver) {
    super();
  }

  override authenticate(request: { headers: { authorization?: string } }): void {
    super.authenticate({ headers: { authorization: request.headers.authorization } } as never);
  }

  async validate(token: string): Promise<Identity | false> {
    return (await this.tokens.resolve(token)) ?? false;
  }
}
