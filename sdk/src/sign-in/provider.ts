import * as oauth from 'oauth4webapi';
import { type Transport, transportOf } from '../transport.js';

/** Milliseconds for a request. One that hangs would keep the lock that all tabs wait for. */
const TIMEOUT_MS = 30_000;

/** The OpenID provider and the client that signs in there. */
export interface ProviderOptions {
  /** Origin of the service, such as `https://workspace.example`; it is `PUBLIC_URL` of the service. */
  url: string;
  /** Id of the client, as registered with the service. */
  clientId: string;
  /** Default: `openid workspace`. */
  scope?: string;
  fetch?: Transport;
}

/** The tokens of a response, with the time in milliseconds at which the access token ends. */
export interface Tokens {
  accessToken: string;
  expiresAt: number;
  refreshToken: string | undefined;
  idToken: string | undefined;
}

/** The OpenID provider of the service, for a public client. */
export class Provider {
  readonly client: oauth.Client;
  readonly authentication = oauth.None();
  readonly scope: string;
  private readonly issuer: URL;
  private readonly send: Transport;
  private metadata: Promise<oauth.AuthorizationServer> | undefined;

  constructor({ url, clientId, scope = 'openid workspace', fetch }: ProviderOptions) {
    this.issuer = new URL(`${url.replace(/\/+$/, '')}/apis/v1/oidc`);
    this.client = { client_id: clientId };
    this.scope = scope;
    this.send = transportOf(fetch);
  }

  /** Identifies the provider and the client, for names of stored values and locks. */
  get name(): string {
    return `${this.issuer.href} ${this.client.client_id}`;
  }

  /** The metadata of the provider. A failed attempt is repeated by the next call. */
  server(): Promise<oauth.AuthorizationServer> {
    this.metadata ??= this.discover().catch((error: unknown) => {
      this.metadata = undefined;
      throw error;
    });
    return this.metadata;
  }

  /** Options of a request. HTTP is allowed for loopback addresses, as in RFC 8252, section 8.3. */
  options(signal?: AbortSignal) {
    return {
      [oauth.customFetch]: (url: string, init: object) => this.send(new Request(url, init)),
      [oauth.allowInsecureRequests]: isLoopback(this.issuer),
      // React Native lacks it, and has limits of its own.
      signal: signal ?? AbortSignal.timeout?.(TIMEOUT_MS),
    };
  }

  private async discover(): Promise<oauth.AuthorizationServer> {
    const response = await oauth.discoveryRequest(this.issuer, this.options());
    return oauth.processDiscoveryResponse(this.issuer, response);
  }
}

export function tokensOf(response: oauth.TokenEndpointResponse): Tokens {
  return {
    accessToken: response.access_token,
    expiresAt: Date.now() + (response.expires_in ?? 0) * 1_000,
    refreshToken: response.refresh_token,
    idToken: response.id_token,
  };
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
