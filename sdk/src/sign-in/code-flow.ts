import * as oauth from 'oauth4webapi';
import { type Provider, type Tokens, tokensOf } from './provider.js';
import type { TokenStorage } from './storage.js';

/** Sign-ins that were started and not completed; older ones are dropped. */
const MAX_STARTED = 5;

/** The request of a sign-in in the browser. */
export interface StartOptions {
  /** One of the registered addresses of the client. */
  redirectUri: string;
  /** Further parameters, such as `prompt` or `login_hint` (OpenID Connect Core 1.0, section 3.1.2.1). */
  parameters?: Record<string, string>;
  /** Returned by `complete`, such as the page that the user came from. */
  state?: unknown;
}

interface Started {
  id: string;
  verifier: string;
  nonce: string;
  redirectUri: string;
  state?: unknown;
}

/** Authorization code with PKCE (RFC 7636). What a sign-in needs at its end is stored until then: the page is left meanwhile. */
export class CodeFlow {
  private readonly key: string;

  constructor(
    private readonly provider: Provider,
    private readonly storage: TokenStorage,
  ) {
    this.key = `${provider.name} started`;
  }

  /** @returns the address that the browser opens */
  async start({ redirectUri, parameters = {}, state }: StartOptions): Promise<URL> {
    const server = await this.provider.server();
    const verifier = oauth.generateRandomCodeVerifier();
    const started = {
      id: oauth.generateRandomState(),
      verifier,
      nonce: oauth.generateRandomNonce(),
      redirectUri,
      state,
    };
    const url = new URL(server.authorization_endpoint!);
    const query = {
      ...parameters,
      client_id: this.provider.client.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: this.provider.scope,
      state: started.id,
      nonce: started.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    await this.store([started, ...(await this.read())].slice(0, MAX_STARTED));
    return url;
  }

  /**
   * @param callback the address to which the provider redirected
   * @throws AuthorizationResponseError with `error`, such as `access_denied`, of the provider
   */
  async complete(callback: URL): Promise<{ tokens: Tokens; state: unknown }> {
    const id = callback.searchParams.get('state');
    const all = await this.read();
    const started = all.find((one) => one.id === id);
    if (!started) throw new Error('The sign-in was not started here, or is already completed.');
    await this.store(all.filter((one) => one !== started));
    const server = await this.provider.server();
    const { client, authentication } = this.provider;
    const parameters = oauth.validateAuthResponse(server, client, callback, started.id);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      parameters,
      started.redirectUri,
      started.verifier,
      this.provider.options(),
    );
    const expected = { expectedNonce: started.nonce, requireIdToken: true };
    const granted = await oauth.processAuthorizationCodeResponse(server, client, response, expected);
    return { tokens: tokensOf(granted), state: started.state };
  }

  private async read(): Promise<Started[]> {
    return JSON.parse((await this.storage.getItem(this.key)) ?? '[]') as Started[];
  }

  private async store(started: Started[]): Promise<void> {
    if (started.length === 0) await this.storage.removeItem(this.key);
    else await this.storage.setItem(this.key, JSON.stringify(started));
  }
}
