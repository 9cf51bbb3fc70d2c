import { type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-http-bearer';
import {
  AUTHENTICATED_BY,
  IS_BEFORE_SECOND_FACTOR,
  IS_PUBLIC,
  IS_TENANTLESS,
  IS_WITHOUT_SECOND_FACTOR,
  WITHOUT_TENANT,
} from '../http/api-docs.js';
import { type ApiError, type ErrorKind, Errors } from '../http/errors.js';
import type { RequestAuthenticator } from './access.decorators.js';
import {
  type AccountContext,
  type AuthenticatedRequest,
  type Identity,
  type TenantRole,
  TokenResolver,
} from './request-context.js';

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

const BEARER = /^bearer ([\w\-.~+/]+=*)$/i;
/** RFC 6750, section 3: the challenge has no error code when the request has no bearer token. */
const CHALLENGE = { headers: { 'WWW-Authenticate': 'Bearer' } };
/** 401 for a token that is not valid. */
export const invalidToken = (): ApiError =>
  Errors.unauthorized.with({ headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } });

/** The token of the `Authorization` header. No other place of a request is accepted. */
export const bearerToken = (request: Request): string | undefined =>
  BEARER.exec(request.headers.authorization ?? '')?.[1];

/** 401 with the challenge for this request. The reason why a token is invalid is not disclosed. */
export const notAuthenticated = ({ headers }: Request): ApiError =>
  /^bearer\b/i.test(headers.authorization ?? '') ? invalidToken() : Errors.unauthorized.with(CHALLENGE);

/**
 * Global. Authenticates the `Authorization: Bearer` token of a request and stores the frozen caller in `request.ctx`. For a
 * cached token it does not call passport.
 */
@Injectable()
export class BearerGuard extends AuthGuard() {
  constructor(
    strategy: BearerStrategy,
    private readonly tokens: TokenResolver,
    private readonly reflector: Reflector,
    private readonly modules: ModuleRef,
  ) {
    super({
      // The strategy object in place of its name: names are global to the process, so a second application (of a test or of
      // the demo token) would receive the requests of this one. A new object for each request, because passport assigns the
      // callbacks of the request to it.
      get defaultStrategy() {
        return Object.create(strategy) as string;
      },
    });
  }

  override canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const handler = context.getHandler();
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const other = this.reflector.get<Type<RequestAuthenticator> | undefined>(AUTHENTICATED_BY, handler);
    if (other)
      return this.modules
        .get(other, { strict: false })
        .authenticate(request)
        .then(() => true);
    if (this.reflector.get<boolean>(IS_PUBLIC, handler)) return true;
    const token = bearerToken(request);
    if (token === undefined) throw notAuthenticated(request);
    const known = this.tokens.cached(token);
    return known ? this.admit(context, request, known) : this.authenticate(context, request);
  }

  /** Maps every failure of the strategy to the same 401. */
  override handleRequest<T>(
    error: unknown,
    identity: T | false,
    _info: unknown,
    context: ExecutionContext,
  ): T {
    if (error) throw error;
    if (!identity) throw notAuthenticated(context.switchToHttp().getRequest<Request>());
    return identity;
  }

  private async authenticate(context: ExecutionContext, request: AuthenticatedRequest): Promise<boolean> {
    await super.canActivate(context);
    return this.admit(context, request, request.user as Identity);
  }

  private admit(context: ExecutionContext, request: AuthenticatedRequest, identity: Identity): boolean {
    if (
      identity.secondFactorPending &&
      !this.reflector.get<boolean>(IS_BEFORE_SECOND_FACTOR, context.getHandler())
    ) {
      throw Errors.secondFactorRequired.with();
    }
    if (
      identity.secondFactorMissing &&
      !this.reflector.get<boolean>(IS_WITHOUT_SECOND_FACTOR, context.getHandler())
    ) {
      throw Errors.secondFactorMissing.with();
    }
    if (identity.tenantId === null && !this.reflector.get<boolean>(IS_TENANTLESS, context.getHandler())) {
      const kind = this.reflector.get<ErrorKind | undefined>(WITHOUT_TENANT, context.getHandler());
      throw (kind ?? Errors.workspaceForbidden).with();
    }
    request.ctx = Object.freeze(new Caller(identity, request));
    return true;
  }
}

/** The context of a request. The address is computed on access, because few requests need it. */
class Caller implements AccountContext {
  readonly userId: string;
  readonly tenantId: string | null;
  readonly role: TenantRole | null;
  readonly sessionId: string | null;
  readonly secondFactorPending: boolean;
  readonly requestId: string;
  readonly #request: AuthenticatedRequest;

  constructor(
    { userId, tenantId, role, sessionId, secondFactorPending }: Identity,
    request: AuthenticatedRequest,
  ) {
    this.userId = userId;
    this.tenantId = tenantId;
    this.role = role;
    this.sessionId = sessionId;
    this.secondFactorPending = secondFactorPending === true;
    this.requestId = request.id;
    this.#request = request;
  }

  get ip(): string | null {
    return this.#request.ip ?? null;
  }
}
