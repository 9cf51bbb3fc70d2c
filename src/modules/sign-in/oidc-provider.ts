import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import type { JWK, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { Config } from '../../config/config.js';
import { asApiError } from '../../platform/http/server/exception.filter.js';
import { Keyring } from '../../platform/secrets/keyring.js';
import { SigningKeys } from '../identity/index.js';
import { API_SCOPE, OIDC_SCOPES, oidcLibrary } from './model/oidc-scopes.js';
import { OidcAccounts } from './protocol/oidc-accounts.js';
import { OidcClientsApi } from './clients/oidc-clients.api.js';
import { DEVICE_INTERVAL, OidcRecords, TokenReuse } from './records/oidc-records.js';
import { providerPages } from './pages/index.js';
import { SignInGrants } from './sign-in-grants.js';

interface Built {
  /** Ids of the signing keys; the first one signs. */
  keyIds: string;
  provider: Provider;
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** The OpenID provider of the library. Rebuilt when the signing keys change, without a restart. */
@Injectable()
export class OidcProvider {
  private readonly logger = new Logger('OIDC');
  private built: Built | undefined;

  constructor(
    private readonly config: Config,
    private readonly signingKeys: SigningKeys,
    private readonly keyring: Keyring,
    private readonly records: OidcRecords,
    private readonly clients: OidcClientsApi,
    private readonly accounts: OidcAccounts,
    private readonly grants: SignInGrants,
    private readonly reuse: TokenReuse,
  ) {}

  /** The provider with the current keys, which another process may have rotated. */
  async readCurrent(): Promise<Provider> {
    return (await this.currentBuild()).provider;
  }

  /** Handles a protocol request. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await (await this.currentBuild()).handle(request, response);
  }

  private async currentBuild(): Promise<Built> {
    const keys = await this.signingKeys.signers();
    const keyIds = keys.map(({ kid }) => kid).join(' ');
    if (this.built?.keyIds !== keyIds) {
      const provider = await this.build(keys);
      this.built = { keyIds, provider, handle: provider.callback() };
    }
    return this.built;
  }

  private async build(keys: JWK[]): Promise<Provider> {
    const issuer = this.config.signInIssuer;
    if (issuer === null) throw new Error('the built-in OpenID provider is disabled: OIDC_ISSUER is set');
    const [library, { oidcConfiguration }] = await Promise.all([
      oidcLibrary(),
      import('./oidc-configuration.js'),
    ]);
    const provider = new library.Provider(
      issuer,
      oidcConfiguration({
        config: this.config,
        keys,
        cookieKeys: [this.keyring.sign('oidc cookies', '1').toString('base64url')],
        adapter: (model) => this.adapter(model),
        accounts: this.accounts,
        grants: this.grants,
        pages: providerPages,
        firstParty: async (id) => (await this.clients.find(id))?.firstParty ?? false,
      }),
    );
    fixAddress(provider, new URL(issuer));
    compareHashes(provider);
    useWholeSeconds(provider);
    skipUnsavedSessions(provider);
    provider.use((ctx, next) => this.errorsWithMessage(ctx as KoaContextWithOIDC, next));
    provider.on('server_error', (ctx, error) => this.reportFailure(ctx, error));
    // Koa emits errors of responses here. Without a listener it prints them.
    (provider as NodeJS.EventEmitter).on('error', (err) => this.logger.warn({ err }, 'OpenID provider'));
    return provider;
  }

  private adapter(model: string) {
    const adapter = this.records.adapter(model);
    return model === 'Client' ? { ...adapter, find: (id: string) => this.clients.metadata(id) } : adapter;
  }

  /** Adds `message` to errors, as in the rest of the API, and enforces the polling interval of devices. */
  private async errorsWithMessage(ctx: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> {
    try {
      await next();
    } catch (error) {
      ctx.status = 500;
      ctx.body = { error: 'server_error' };
      this.reportFailure(ctx, error);
    }
    if (!isObject(ctx.body)) return;
    const body: Record<string, unknown> = ctx.body;
    if (Array.isArray(body['scopes_supported'])) body['scopes_supported'] = [...OIDC_SCOPES, API_SCOPE];
    if (body['error'] === 'invalid_grant') await this.recordReuse(ctx);
    if (body['error'] === 'authorization_pending' && (await this.isPollTooSoon(ctx))) {
      body['error'] = 'slow_down';
      body['error_description'] = 'poll less often: add five seconds to the interval';
    }
    if (typeof body['error'] === 'string') body['message'] ??= body['error_description'] ?? body['error'];
    if (body['device_code'] !== undefined) body['interval'] = DEVICE_INTERVAL;
  }

  /** Records the second use of a code or token, for which the provider has ended the grant. */
  private async recordReuse({ oidc: { entities } }: KoaContextWithOIDC): Promise<void> {
    for (const used of [entities.AuthorizationCode, entities.RefreshToken, entities.DeviceCode])
      if (used && 'consumed' in used && used.consumed && used.grantId !== undefined)
        await this.reuse.record(used.kind, used.grantId);
  }

  private async isPollTooSoon(ctx: KoaContextWithOIDC): Promise<boolean> {
    const code = ctx.oidc.params?.['device_code'];
    return typeof code === 'string' && this.records.isPollTooSoon(code);
  }

  /** Logs an internal failure. The client learns only whether to retry. */
  private reportFailure(ctx: KoaContextWithOIDC, error: unknown): void {
    this.logger.error(
      { err: error, method: ctx.method, route: ctx.oidc?.route },
      'the OpenID provider failed',
    );
    const { kind } = asApiError(error);
    if (kind.status !== 503) return;
    const { body } = ctx;
    ctx.status = 503;
    ctx.set('Retry-After', '1');
    ctx.body = isObject(body) ? { error: 'temporarily_unavailable', error_description: kind.message } : body;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Buffer.isBuffer(value) && !('pipe' in value);

/** Builds addresses from PUBLIC_URL, never from request headers. */
function fixAddress(provider: Provider, issuer: URL): void {
  const fixed = (value: string) => ({ get: () => value, configurable: true });
  Object.defineProperties(provider.request, {
    protocol: fixed(issuer.protocol.slice(0, -1)),
    host: fixed(issuer.host),
  });
}

/** The client secret of the provider is the SHA-256 in hexadecimal. */
function compareHashes(provider: Provider): void {
  provider.Client.prototype.compareClientSecret = function compare(actual: string): boolean {
    const hash = createHash('sha256').update(actual).digest();
    return timingSafeEqual(hash, Buffer.from(this.clientSecret ?? '', 'hex'));
  };
}

/** The stored time of sign-in has microseconds, for the comparison with a sign-out. `auth_time` has whole seconds. */
function useWholeSeconds(provider: Provider): void {
  provider.Session.prototype.authTime = function authTime() {
    return this.loginTs === undefined ? undefined : Math.floor(this.loginTs);
  };
}

/**
 * Pages for a browser without a sign-in change a session that was never saved. Saving it would fail, and without a cookie
 * it could not be found.
 */
function skipUnsavedSessions(provider: Provider): void {
  const { prototype } = provider.Session;
  const persist = Object.getOwnPropertyDescriptor(prototype, 'persist')?.value as () => Promise<string>;
  prototype.persist = async function persistSaved() {
    return typeof this.exp === 'number' ? persist.call(this) : this.jti;
  };
}
