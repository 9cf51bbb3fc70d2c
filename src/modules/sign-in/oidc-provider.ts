import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import { type JWK, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import { Config } from '../../config/config.js';
import { asApiError } from '../../platform/http/exception.filter.js';
import { Keyring } from '../../platform/secrets/keyring.js';
import { SigningKeys } from '../identity/index.js';
import { OidcAccounts } from './oidc-accounts.js';
import { OidcClientsApi } from './oidc-clients.api.js';
import { oidcConfiguration } from './oidc-configuration.js';
import { DEVICE_INTERVAL, OidcRecords } from './oidc-records.js';
import { providerPages } from './pages/index.js';
import { SignInGrants } from './sign-in-grants.js';

interface Built {
  /** Of the signing keys it was made with; the first signs. */
  keyIds: string;
  provider: Provider;
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** The OpenID provider of the library, made with our parts; made anew when the signing keys change, without a restart. */
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
  ) {}

  /** The provider with the keys of now: another process may have rotated them a second ago. */
  async current(): Promise<Provider> {
    return (await this.builtNow()).provider;
  }

  /** Answers a request of the protocol. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await (await this.builtNow()).handle(request, response);
  }

  private async builtNow(): Promise<Built> {
    const keys = await this.signingKeys.signers();
    const keyIds = keys.map(({ kid }) => kid).join(' ');
    if (this.built?.keyIds !== keyIds) {
      const provider = this.build(keys);
      this.built = { keyIds, provider, handle: provider.callback() };
    }
    return this.built;
  }

  private build(keys: JWK[]): Provider {
    const issuer = this.config.signInIssuer;
    if (issuer === null) throw new Error('the built-in OpenID provider is off: OIDC_ISSUER is set');
    const provider = new Provider(
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
    livesAt(provider, new URL(issuer));
    compareHashes(provider);
    wholeSeconds(provider);
    unsavedStaysUnsaved(provider);
    provider.use((ctx, next) => this.around(ctx as KoaContextWithOIDC, next));
    provider.on('server_error', (ctx, error) => this.failed(ctx, error));
    // Koa's own: answers that could not be written. Without a listener it prints them.
    (provider as NodeJS.EventEmitter).on('error', (err) => this.logger.warn({ err }, 'OpenID provider'));
    return provider;
  }

  private adapter(model: string) {
    const adapter = this.records.adapter(model);
    return model === 'Client' ? { ...adapter, find: (id: string) => this.clients.metadata(id) } : adapter;
  }

  /** Errors get a `message` as all of this service have, beside what OAuth prescribes; devices are kept to their pace. */
  private async around(ctx: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> {
    try {
      await next();
    } catch (error) {
      ctx.status = 500;
      ctx.body = { error: 'server_error' };
      this.failed(ctx, error);
    }
    if (!isObject(ctx.body)) return;
    const body: Record<string, unknown> = ctx.body;
    if (body['error'] === 'authorization_pending' && (await this.tooSoon(ctx))) {
      body['error'] = 'slow_down';
      body['error_description'] = 'ask less often: wait five seconds longer';
    }
    if (typeof body['error'] === 'string') body['message'] ??= body['error_description'] ?? body['error'];
    if (body['device_code'] !== undefined) body['interval'] = DEVICE_INTERVAL;
  }

  private async tooSoon(ctx: KoaContextWithOIDC): Promise<boolean> {
    const code = ctx.oidc.params?.['device_code'];
    return typeof code === 'string' && this.records.askedTooSoon(code);
  }

  /** Trouble of ours: told to the operator, and to the client only whether it is worth trying again. */
  private failed(ctx: KoaContextWithOIDC, error: unknown): void {
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

/** Addresses are made of PUBLIC_URL, never of what a request says about itself. */
function livesAt(provider: Provider, issuer: URL): void {
  const fixed = (value: string) => ({ get: () => value, configurable: true });
  Object.defineProperties(provider.request, {
    protocol: fixed(issuer.protocol.slice(0, -1)),
    host: fixed(issuer.host),
  });
}

/** What the provider holds as a client's secret is its SHA-256, in hexadecimal. */
function compareHashes(provider: Provider): void {
  provider.Client.prototype.compareClientSecret = function compare(actual: string): boolean {
    const hash = createHash('sha256').update(actual).digest();
    return timingSafeEqual(hash, Buffer.from(this.clientSecret ?? '', 'hex'));
  };
}

/** A browser's sign-in is kept to the microsecond, to compare it with a sign-out; `auth_time` is told in seconds. */
function wholeSeconds(provider: Provider): void {
  provider.Session.prototype.authTime = function authTime() {
    return this.loginTs === undefined ? undefined : Math.floor(this.loginTs);
  };
}

/**
 * A page for a browser that has no sign-in yet changes a session that was never saved; saving it would fail, and without a
 * cookie it could never be found again.
 */
function unsavedStaysUnsaved(provider: Provider): void {
  const { prototype } = provider.Session;
  const persist = Object.getOwnPropertyDescriptor(prototype, 'persist')?.value as () => Promise<string>;
  prototype.persist = async function persistSaved() {
    return typeof this.exp === 'number' ? persist.call(this) : this.jti;
  };
}
