import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import * as openid from 'openid-client';
import { OutboundHttp, OutboundHttpError } from '../../platform/outbound/outbound-http.js';

const LIMITS = { timeoutMs: 5_000, maxBytes: 256 * 1024, longer: 'reject' } as const;
const NO_BODY = new Set([204, 205, 304]);

interface IssuerRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** HTTP requests to issuers that administrators of workspaces name, in the form that the OpenID client needs. */
@Injectable()
export class IssuerHttp {
  constructor(private readonly outbound: OutboundHttp) {}

  /** @throws OutboundHttpError for an address that is not allowed, before any connection */
  assertAllowed(address: string): void {
    this.outbound.assertAllowed(address);
  }

  /** `fetch` for the OpenID client. @throws OutboundHttpError */
  readonly fetch = async (address: string, request: IssuerRequest): Promise<Response> => {
    const { method = 'GET', headers = {} } = request;
    const body = request.body instanceof URLSearchParams ? request.body.toString() : null;
    const response = await this.outbound.request(address, { method, headers, body, ...LIMITS });
    return new Response(NO_BODY.has(response.status) ? null : new Uint8Array(response.body), {
      status: response.status,
      headers: textHeaders(response.headers),
    });
  };
}

function textHeaders(headers: Record<string, string | string[] | undefined>): Headers {
  const made = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const each of value === undefined ? [] : [value].flat()) made.append(name, each);
  return made;
}

const MAX_CACHED = 1_000;
/** Shorter than the 300 seconds for which the library accepts stored keys. */
const CACHE_MS = 180_000;
/** The library reads the keys again for an unknown key id when they are at least this old. */
const REFRESHABLE_SECONDS = 60;
const TIMEOUT_SECONDS = 5;

export type IssuerProblem =
  | 'invalid_address'
  | 'unreachable'
  | 'too_large'
  | 'invalid_metadata'
  | 'unsupported'
  | 'no_keys'
  | 'unreadable_secret'
  | 'invalid_response';

/** An issuer is unavailable, or its response is invalid. */
export class IssuerError extends Error {
  constructor(
    readonly problem: IssuerProblem,
    message: string,
  ) {
    super(message);
    this.name = 'IssuerError';
  }
}

/** How this service is registered at an issuer. */
export interface IssuerRegistration {
  issuer: string;
  clientId: string;
  clientSecret: string | null;
  redirectUri: string;
}

/** Values of a sign-in that the response of the issuer must match. */
export interface IssuerRequestState {
  state: string;
  nonce: string;
  verifier: string;
}

export interface IssuerCheck {
  ok: boolean;
  problem: IssuerProblem | null;
  message: string | null;
  authorizationEndpoint: string | null;
  tokenEndpoint: string | null;
  keys: number;
}

/**
 * OpenID Connect with the issuers of workspaces: authorization code flow with PKCE (S256), state and nonce; the signature of
 * the ID token is verified. Discovery documents and keys are cached; an unknown key id causes one new read of the keys.
 */
@Injectable()
export class IssuerClient {
  private readonly documents = new LRUCache<string, openid.ServerMetadata>({
    max: MAX_CACHED,
    ttl: CACHE_MS,
  });
  private readonly keys = new LRUCache<string, openid.ExportedJWKSCache>({ max: MAX_CACHED, ttl: CACHE_MS });

  constructor(private readonly http: IssuerHttp) {}

  /** The address that starts a sign-in. @throws IssuerError */
  async authorizationUrl(
    registration: IssuerRegistration,
    { state, nonce, verifier }: IssuerRequestState,
    { scopes, email }: { scopes: string[]; email: string },
  ): Promise<URL> {
    const config = await this.configuration(registration);
    const endpoint = config.serverMetadata().authorization_endpoint ?? '';
    return this.checked(async () => {
      this.http.assertAllowed(endpoint);
      return openid.buildAuthorizationUrl(config, {
        redirect_uri: registration.redirectUri,
        scope: [...new Set(['openid', ...scopes])].join(' '),
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        login_hint: email,
      });
    });
  }

  /**
   * Exchanges the code of a response.
   * @param query of the redirect URI @returns the claims of the valid ID token @throws IssuerError
   */
  async claims(
    registration: IssuerRegistration,
    { state, nonce, verifier }: IssuerRequestState,
    query: URLSearchParams,
  ): Promise<openid.IDToken> {
    const config = await this.configuration(registration);
    const cached = this.keys.get(registration.issuer);
    if (cached) {
      const uat = Math.min(cached.uat, Math.floor(Date.now() / 1000) - REFRESHABLE_SECONDS);
      openid.setJwksCache(config, { jwks: cached.jwks, uat });
    }
    const address = new URL(`${registration.redirectUri}?${query.toString()}`);
    const tokens = await this.checked(() =>
      openid.authorizationCodeGrant(config, address, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      }),
    );
    const read = openid.getJwksCache(config);
    if (read && read.uat > (cached?.uat ?? 0)) this.keys.set(registration.issuer, structuredClone(read));
    const claims = tokens.claims();
    if (!claims) throw new IssuerError('invalid_response', 'the response has no ID token');
    return claims;
  }

  /** Reads the discovery document and the keys of an issuer now, and reports the first problem. */
  async check(issuer: string): Promise<IssuerCheck> {
    this.documents.delete(issuer);
    this.keys.delete(issuer);
    let metadata: openid.ServerMetadata | null = null;
    const outcome = (keys: number, error: IssuerError | null): IssuerCheck => ({
      ok: error === null,
      problem: error?.problem ?? null,
      message: error?.message ?? null,
      authorizationEndpoint: metadata?.authorization_endpoint ?? null,
      tokenEndpoint: metadata?.token_endpoint ?? null,
      keys,
    });
    try {
      metadata = await this.discover(issuer);
      return outcome(await this.countKeys(metadata), null);
    } catch (error) {
      if (error instanceof IssuerError) return outcome(0, error);
      throw error;
    }
  }

  private async countKeys({ jwks_uri: uri }: openid.ServerMetadata): Promise<number> {
    const response = await this.checked(() =>
      this.http.fetch(String(uri), { headers: { accept: 'application/json' } }),
    );
    const body: unknown = await response.json().catch(() => null);
    const keys = Object(body) as { keys?: unknown };
    if (!response.ok || !Array.isArray(keys.keys) || keys.keys.length === 0)
      throw new IssuerError('no_keys', `${String(uri)} contains no keys`);
    return keys.keys.length;
  }

  private async configuration(registration: IssuerRegistration): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret } = registration;
    const metadata = this.documents.get(issuer) ?? (await this.discover(issuer));
    const config = new openid.Configuration(metadata, clientId, {}, authentication(metadata, clientSecret));
    config.timeout = TIMEOUT_SECONDS;
    config[openid.customFetch] = this.http.fetch;
    // OutboundHttp checks whether http is allowed.
    openid.allowInsecureRequests(config);
    openid.enableNonRepudiationChecks(config);
    return config;
  }

  private async discover(issuer: string): Promise<openid.ServerMetadata> {
    const metadata = await this.checked(async () => {
      this.http.assertAllowed(issuer);
      const config = await openid.discovery(new URL(issuer), 'discovery', {}, openid.None(), {
        execute: [openid.allowInsecureRequests],
        timeout: TIMEOUT_SECONDS,
        [openid.customFetch]: this.http.fetch,
      });
      return structuredClone<openid.ServerMetadata>(config.serverMetadata());
    }, 'invalid_metadata');
    if (metadata.issuer !== issuer && metadata.issuer !== issuer.replace(/\/$/, ''))
      throw new IssuerError('invalid_metadata', 'the document names another issuer');
    const { authorization_endpoint: authorization, token_endpoint: token, jwks_uri: keys } = metadata;
    if (!authorization || !token || !keys)
      throw new IssuerError(
        'invalid_metadata',
        'the document needs authorization_endpoint, token_endpoint and jwks_uri',
      );
    if (metadata.response_types_supported && !metadata.response_types_supported.includes('code'))
      throw new IssuerError('unsupported', 'the issuer does not support the authorization code flow');
    await this.checked(async () => {
      for (const address of [authorization, token, keys]) this.http.assertAllowed(address);
    });
    this.documents.set(issuer, metadata);
    return metadata;
  }

  /** Runs a step of the protocol; its failures become an IssuerError. */
  private async checked<T>(step: () => Promise<T>, invalid: IssuerProblem = 'invalid_response'): Promise<T> {
    try {
      return await step();
    } catch (error) {
      const http = causeOf(error);
      if (http) throw new IssuerError(problemOf(http), http.message);
      const { code, message } = error as { code?: string; message: string };
      throw new IssuerError(invalid, code === undefined ? message : `${message} (${code})`);
    }
  }
}

/** The library wraps errors of the transport. */
function causeOf(error: unknown): OutboundHttpError | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof OutboundHttpError) return cause;
  return null;
}

const problemOf = ({ problem }: OutboundHttpError): IssuerProblem =>
  problem === 'invalid_address' || problem === 'too_large' ? problem : 'unreachable';

function authentication(metadata: openid.ServerMetadata, secret: string | null): openid.ClientAuth {
  if (secret === null) return openid.None();
  const methods = metadata.token_endpoint_auth_methods_supported;
  const usesPost = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic');
  return usesPost ? openid.ClientSecretPost(secret) : openid.ClientSecretBasic(secret);
}
