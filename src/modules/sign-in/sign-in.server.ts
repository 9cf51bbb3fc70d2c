import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Config } from '../../config/config.js';
import { invalidToken } from '../../platform/context/bearer.guard.js';
import { TokenResolver } from '../../platform/context/request-context.js';
import { networkOf } from '../../platform/current-work/current-work.js';
import { type ApiError, ErrorKind, Errors } from '../../platform/http/errors.js';
import { writeJson } from '../../platform/http/replies/reply-writer.js';
import { pageHeaders } from '../../platform/http/security-headers.js';
import { type RateLimit, RateLimits, tooManyRequests } from '../../platform/rate-limits/rate-limits.js';
import { SignInSessions } from '../identity/index.js';
import { Interactions } from './interactions.js';
import { OIDC_PATH } from './oidc-configuration.js';
import { OidcProvider } from './oidc-provider.js';
import {
  expiredPage,
  limitedPage,
  type Page,
  pagePolicy,
  PASSKEY_SCRIPT,
  PASSKEY_SCRIPT_PATH,
} from './pages/index.js';
import { SignInGrants } from './sign-in-grants.js';
import { interactionPath, localeOf } from './sign-in-state.js';

/** A route of the provider or of the sign-in pages. */
export interface OidcRoute {
  name: 'callback' | 'protocol' | 'script' | 'token' | 'start' | 'device' | 'userinfo' | 'interaction';
  /** Path in the metrics. */
  path: string;
  /** Whether browsers show the response. */
  isPage: boolean;
}

const GET = ['GET', 'HEAD'];
/** Ids of the provider: 256 bits. */
const UID = '[\\w-]{43}';

/** Id of an issuer of a workspace. */
const ISSUER = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/**
 * All routes under /apis/v1/oidc, matched exactly: the provider itself ignores case and trailing slashes. `/auth` and
 * `/session/end` have no POST: from other sites, browsers send it without the cookies (SameSite=Lax).
 */
const ROUTES: [methods: string[], pattern: string, name: OidcRoute['name'], path: string][] = [
  [GET, '/\\.well-known/openid-configuration', 'protocol', '/.well-known/openid-configuration'],
  [GET, '/\\.well-known/oauth-authorization-server', 'protocol', '/.well-known/oauth-authorization-server'],
  [GET, '/jwks', 'protocol', '/jwks'],
  [GET, '/passkey\\.js', 'script', '/passkey.js'],
  [GET, '/auth', 'start', '/auth'],
  [GET, `/auth/${UID}`, 'protocol', '/auth/:uid'],
  [['POST', 'OPTIONS'], '/token', 'token', '/token'],
  [['POST', 'OPTIONS'], '/token/revocation', 'token', '/token/revocation'],
  [['GET', 'HEAD', 'POST', 'OPTIONS'], '/me', 'userinfo', '/me'],
  [['POST', 'OPTIONS'], '/device/auth', 'start', '/device/auth'],
  [GET, '/device', 'protocol', '/device'],
  [['POST'], '/device', 'device', '/device'],
  [GET, `/device/${UID}`, 'protocol', '/device/:uid'],
  [GET, '/session/end', 'protocol', '/session/end'],
  [['POST'], '/session/end/confirm', 'protocol', '/session/end/confirm'],
  [GET, '/session/end/success', 'protocol', '/session/end/success'],
  [GET, `/callback/${ISSUER}`, 'callback', '/callback/:issuer_id'],
  [['GET', 'HEAD', 'POST'], `/interaction/${UID}`, 'interaction', '/interaction/:uid'],
];

/** Paths whose responses are pages. */
const PAGES = new Set([
  '/auth',
  '/device',
  '/session/end',
  '/session/end/confirm',
  '/interaction/:uid',
  '/callback/:issuer_id',
]);

const TABLE = ROUTES.map(([methods, pattern, name, path]) => ({
  methods: new Set(methods),
  pattern: new RegExp(`^${pattern}$`),
  route: { name, path, isPage: PAGES.has(path) },
}));

/** @param path below /apis/v1/oidc @returns null for an unknown route */
export function findOidcRoute(method: string, path: string): OidcRoute | null {
  return TABLE.find((entry) => entry.methods.has(method) && entry.pattern.test(path))?.route ?? null;
}

/** Route paths for the documentation. */
export const OIDC_ROUTES: readonly string[] = ROUTES.map(([, , , path]) => path);

/**
 * An error that the OpenID provider does not define. It does not use `defineError`, which adds errors to the documentation of
 * the API: the routes are not operations of the API.
 */
const INSUFFICIENT_SCOPE = new ErrorKind(
  403,
  'insufficient_scope',
  'The token was not granted the scope openid.',
);

const BEARER_JWT = /^bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i;
const OPENID = { headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="openid"' } };
/** Seconds for which browsers cache the script. */
const SCRIPT_SECONDS = 300;
/** State of a sign-in by an issuer: the id of the sign-in, and a random part. */
const STATE = /^([\w-]{43})\.[\w-]{43}$/;
/** Policy of the self-submitting pages of the provider, which adds the hash of their script. */
const PROTOCOL_POLICY =
  "default-src 'none'; script-src 'report-sample'; base-uri 'none'; frame-ancestors 'none'";

/** Serves /apis/v1/oidc: the protocol by the provider, the pages by `Interactions`. */
@Injectable()
export class SignInServer {
  constructor(
    private readonly oidc: OidcProvider,
    private readonly interactions: Interactions,
    private readonly limits: RateLimits,
    private readonly tokens: TokenResolver,
    private readonly sessions: SignInSessions,
    private readonly grants: SignInGrants,
    private readonly config: Config,
  ) {}

  /** False with an external issuer: then no route exists. */
  get enabled(): boolean {
    return this.config.signInIssuer !== null;
  }

  /** Express handler for `OIDC_PATH`; unknown routes pass to the general 404. */
  readonly handle = (request: Request & { id?: string }, response: Response, next: NextFunction): void => {
    const route = request.originalUrl.startsWith('/') ? findOidcRoute(request.method, request.path) : null;
    if (route === null) return next();
    // Path without ids, for metrics and log.
    request.route = { path: `${OIDC_PATH}${route.path}` };
    for (const [name, value] of pageHeaders) response.setHeader(name, value);
    response.setHeader('Content-Security-Policy', PROTOCOL_POLICY);
    if (request.id) response.setHeader('X-Request-Id', request.id);
    this.serve(route, request, response).then(undefined, next);
  };

  private async serve(route: OidcRoute, request: Request, response: Response): Promise<void> {
    const wait = await this.wait(route, request);
    if (wait > 0) return this.reject(route, request, response, wait);
    const jwt = BEARER_JWT.exec(request.headers.authorization ?? '')?.[1];
    if (route.name === 'userinfo' && jwt !== undefined && request.method !== 'OPTIONS')
      return this.userinfo(response, jwt);
    if (route.name === 'script') return sendScript(response);
    if (route.name === 'callback') return this.callback(request, response);
    if (route.name === 'interaction') return this.interaction(request, response);
    return this.oidc.handle(request, response);
  }

  private async interaction(request: Request, response: Response): Promise<void> {
    const uid = request.path.split('/')[2] as string;
    const page = await this.interactions.handle(request, response, uid);
    if (page !== null) this.sendPage(response, page);
  }

  /**
   * The response of the issuer of a workspace. The cookie of the sign-in is limited to the path of its pages, so that the
   * browser continues there.
   */
  private callback(request: Request, response: Response): void {
    const { search, pathname } = new URL(request.originalUrl, this.config.publicUrl);
    const query = new URLSearchParams(search);
    const uid = STATE.exec(query.get('state') ?? '')?.[1];
    if (uid === undefined)
      return this.sendPage(response, expiredPage(localeOf(undefined, request.headers['accept-language'])));
    query.set('callback', pathname.slice(pathname.lastIndexOf('/') + 1));
    response.setHeader('Cache-Control', 'no-store');
    response.redirect(303, `${interactionPath(uid)}?${query.toString()}`);
  }

  /** Userinfo for access tokens of the API; the provider handles only its own opaque tokens. */
  private async userinfo(response: Response, token: string): Promise<void> {
    const identity = this.tokens.cached(token) ?? (await this.tokens.resolve(token));
    if (identity?.secondFactorPending) return writeError(response, Errors.secondFactorRequired.with());
    const account = identity && (await this.sessions.account(identity.userId));
    if (!account) return writeError(response, invalidToken());
    const scopes = identity.sessionId && (await this.scopesOf(identity.sessionId));
    if (scopes && !scopes.has('openid')) return writeError(response, INSUFFICIENT_SCOPE.with(OPENID));
    const grants = (scope: string) => !scopes || scopes.has(scope);
    const { id: sub, displayName: name, email } = account;
    const claims = {
      sub,
      ...(grants('profile') && { name }),
      ...(grants('email') && { email, email_verified: true }),
    };
    return writeJson(response, 200, JSON.stringify(claims));
  }

  /** The identity scopes of a session; null for a token of the command line, which needs no consent. */
  private async scopesOf(sessionId: string): Promise<Set<string> | null> {
    return this.grants.identityScopes(await this.oidc.readCurrent(), sessionId);
  }

  /** Rate limit per network, as all routes are public. @returns seconds to wait */
  private async wait({ name }: OidcRoute, request: Request): Promise<number> {
    const limit = this.limitOf(name) ?? (request.method === 'POST' ? this.formLimit() : null);
    return limit ? this.limits.take({ limit, subject: networkOf(request.ip) }) : 0;
  }

  /** Limits in proportion to SIGN_IN_PER_MINUTE, the limit of password attempts. */
  private limitOf(name: OidcRoute['name']): RateLimit | null {
    const base = { perSeconds: 60 };
    const perMinute = this.config.SIGN_IN_PER_MINUTE;
    switch (name) {
      case 'token':
        return { ...base, scope: 'oidc-token', requests: perMinute * 20 };
      case 'start':
        return { ...base, scope: 'oidc-start', requests: perMinute * 10 };
      // User codes of devices are short enough to guess.
      case 'device':
        return { ...base, scope: 'oidc-device', requests: perMinute };
      default:
        return null;
    }
  }

  /** Of all other forms, before they are read. */
  private formLimit(): RateLimit {
    return { perSeconds: 60, scope: 'oidc-form', requests: this.config.SIGN_IN_PER_MINUTE * 20 };
  }

  private sendPage(response: Response, page: Page): void {
    const { status, body, formTarget, retryAfter, needsScript = false } = page;
    const script = needsScript ? `${this.config.publicUrl}${PASSKEY_SCRIPT_PATH}` : null;
    response.status(status);
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Content-Security-Policy', pagePolicy(formTarget, script));
    response.setHeader('Cache-Control', 'no-store');
    if (retryAfter !== undefined) response.setHeader('Retry-After', String(retryAfter));
    response.end(body);
  }

  private reject(route: OidcRoute, request: Request, response: Response, wait: number): void {
    if (route.isPage && request.accepts(['html', 'json']) === 'html') {
      const locale = localeOf(request.query['ui_locales'], request.headers['accept-language']);
      return this.sendPage(response, limitedPage(locale, wait));
    }
    return writeError(response, tooManyRequests(wait));
  }
}

function writeError(response: Response, { kind, body, extras }: ApiError): void {
  writeJson(response, kind.status, JSON.stringify(body), { headers: extras.headers });
}

function sendScript(response: Response): void {
  response.setHeader('Content-Type', 'text/javascript; charset=utf-8');
  response.setHeader('Cache-Control', `public, max-age=${SCRIPT_SECONDS}`);
  response.end(PASSKEY_SCRIPT);
}
