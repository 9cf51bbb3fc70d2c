import * as oauth from 'oauth4webapi';
import { delay } from '../delay.js';
import { randomKey } from '../random-key.js';
import { CodeFlow, type StartOptions } from './code-flow.js';
import { type DeviceOptions, signInDevice } from './device-flow.js';
import { exclusively } from './exclusive.js';
import { Provider, type ProviderOptions, type Tokens, tokensOf } from './provider.js';
import type { TokenStorage } from './storage.js';
import { type Access, type TabMessage, Tabs } from './tabs.js';

/** An access token is renewed when it has less than this left: 30 s, or a tenth of its life. */
const RENEW_BEFORE_MS = 30_000;
/** Milliseconds in which the message of another tab arrives, and between two looks whether it has. */
const [MESSAGE_MS, LOOK_MS] = [2_000, 20];

/** The provider, and where the sign-in is kept. */
export interface SignInOptions extends ProviderOptions {
  /** Keeps the refresh token, and started sign-ins. All tabs of an origin share it. */
  storage: TokenStorage;
}

/** Whether there is a refresh token. It changes in all tabs. */
export type SignInState = 'signed-in' | 'signed-out';

/** What the storage keeps. */
interface Stored {
  refreshToken: string;
  /** `id` of the newest access token, which is not stored. */
  id: string;
}

/**
 * The sign-in of one user. The access token is in memory only. A refresh token is valid once, so one tab renews at a time, and
 * sends the new access token to the others.
 */
export class SignIn {
  private readonly provider: Provider;
  private readonly storage: TokenStorage;
  private readonly codeFlow: CodeFlow;
  private readonly tabs: Tabs;
  private readonly key: string;
  private readonly listeners = new Set<(state: SignInState) => void>();
  private access: (Access & { renewAt: number }) | undefined;
  /** Counts the changes of `access`. */
  private changes = 0;
  private idToken: string | undefined;

  constructor({ storage, ...options }: SignInOptions) {
    this.provider = new Provider(options);
    this.storage = storage;
    this.codeFlow = new CodeFlow(this.provider, storage);
    this.key = `${this.provider.name} refresh token`;
    // Without the storage, the message changes nothing.
    this.tabs = new Tabs(this.provider.name, (message) => void this.hear(message).catch(() => undefined));
  }

  /** Starts a sign-in in a browser. @returns the address to open: `location.assign(url)` */
  start(options: StartOptions): Promise<URL> {
    return this.codeFlow.start(options);
  }

  /** Completes a sign-in. @param callback the address of the page after the redirect @returns `state` of the start */
  async complete(callback: string | URL): Promise<unknown> {
    const { tokens, state } = await this.codeFlow.complete(new URL(callback));
    await exclusively(this.key, () => this.store(tokens));
    return state;
  }

  /** Signs in a program without a browser. Resolves when its user has confirmed the code. */
  async device(options: DeviceOptions): Promise<void> {
    const tokens = await signInDevice(this.provider, options);
    await exclusively(this.key, () => this.store(tokens));
  }

  /**
   * The access token, renewed when it is about to end. The `token` of `createClient`.
   * @param rejected the token that the service rejected: it is renewed although it has not ended
   * @returns undefined if nobody is signed in
   * @throws Error if the provider cannot be reached; the sign-in remains
   */
  readonly token = async (rejected?: string): Promise<string | undefined> => {
    if (this.isUsable(rejected)) return this.access?.token;
    return exclusively(this.key, async (hasWaited) => {
      // Another tab may have renewed it meanwhile: its message follows.
      if (hasWaited) await soon(() => this.isUsable(rejected));
      if (!this.isUsable(rejected)) await this.renew();
      return this.access?.token;
    });
  };

  /** True if there is a refresh token; the service may have ended it. */
  async isSignedIn(): Promise<boolean> {
    return this.access !== undefined || (await this.read()) !== undefined;
  }

  /** Calls the listener when the user signs in or out, in this tab or another. @returns a function that removes it */
  onChange(listener: (state: SignInState) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /**
   * Ends the grant at the provider (RFC 7009), and removes the tokens in all tabs. The tokens are removed also if the provider cannot be
   * reached; then the call rejects.
   */
  async signOut(): Promise<void> {
    await exclusively(this.key, async () => {
      const stored = await this.read();
      await this.clear();
      if (stored) await this.revoke(stored.refreshToken);
    });
  }

  /** The page that ends the session of the browser at the provider, after `signOut` (OpenID Connect RP-Initiated Logout 1.0). */
  async endSessionUrl(postLogoutRedirectUri?: string): Promise<URL> {
    const server = await this.provider.server();
    const url = new URL(server.end_session_endpoint!);
    url.searchParams.set('client_id', this.provider.client.client_id);
    if (this.idToken) url.searchParams.set('id_token_hint', this.idToken);
    if (postLogoutRedirectUri) url.searchParams.set('post_logout_redirect_uri', postLogoutRedirectUri);
    return url;
  }

  /** Ends the messages between tabs. The sign-in remains. */
  close(): void {
    this.tabs.close();
    this.listeners.clear();
  }

  private isUsable(rejected: string | undefined): boolean {
    return this.access !== undefined && this.access.token !== rejected && Date.now() < this.access.renewAt;
  }

  /**
   * A message may be late, or of a tab with another storage, such as `sessionStorage`: it counts if it agrees with what is stored.
   * A browser may show a change of the storage to other tabs after the message.
   */
  private async hear(message: TabMessage): Promise<void> {
    await soon(async () => {
      const before = this.changes;
      const stored = await this.read();
      if (this.changes !== before) return false;
      if (message.kind === 'signed-out') {
        if (!stored) this.forget();
        return !stored;
      }
      const isNewest = message.access.id === stored?.id;
      if (isNewest) this.take(message.access);
      return isNewest;
    });
  }

  /** Runs exclusively. */
  private async renew(): Promise<void> {
    const stored = await this.read();
    if (!stored) return this.forget();
    const server = await this.provider.server();
    const { client, authentication } = this.provider;
    const options = this.provider.options();
    try {
      const response = await oauth.refreshTokenGrantRequest(
        server,
        client,
        authentication,
        stored.refreshToken,
        options,
      );
      const tokens = tokensOf(await oauth.processRefreshTokenResponse(server, client, response));
      // A provider that does not rotate refresh tokens returns none.
      await this.store({ ...tokens, refreshToken: tokens.refreshToken ?? stored.refreshToken });
    } catch (error) {
      if (!(error instanceof oauth.ResponseBodyError) || error.error !== 'invalid_grant') throw error;
      await this.clear();
    }
  }

  /** Runs exclusively. The refresh token is stored before its access token is used: a crash in between loses nothing. */
  private async store({ accessToken, expiresAt, refreshToken, idToken }: Tokens): Promise<void> {
    const access = { id: randomKey(), token: accessToken, expiresAt };
    const stored: Stored | undefined =
      refreshToken === undefined ? undefined : { refreshToken, id: access.id };
    if (stored) await this.storage.setItem(this.key, JSON.stringify(stored));
    else await this.storage.removeItem(this.key);
    this.idToken = idToken ?? this.idToken;
    this.take(access);
    this.tabs.send({ kind: 'tokens', access });
  }

  private take(access: Access): void {
    const left = access.expiresAt - Date.now();
    const wasSignedOut = this.access === undefined;
    this.access = { ...access, renewAt: access.expiresAt - Math.min(RENEW_BEFORE_MS, left / 10) };
    this.changes += 1;
    if (wasSignedOut) this.report('signed-in');
  }

  private async clear(): Promise<void> {
    await this.storage.removeItem(this.key);
    this.forget();
    this.tabs.send({ kind: 'signed-out' });
  }

  private forget(): void {
    const wasSignedIn = this.access !== undefined;
    this.access = undefined;
    this.changes += 1;
    if (wasSignedIn) this.report('signed-out');
  }

  private report(state: SignInState): void {
    for (const listener of this.listeners) listener(state);
  }

  private async read(): Promise<Stored | undefined> {
    return JSON.parse((await this.storage.getItem(this.key)) ?? 'null') ?? undefined;
  }

  private async revoke(refreshToken: string): Promise<void> {
    const server = await this.provider.server();
    const { client, authentication } = this.provider;
    const response = await oauth.revocationRequest(
      server,
      client,
      authentication,
      refreshToken,
      this.provider.options(),
    );
    await oauth.processRevocationResponse(response);
  }
}

/** Looks until the result is true, but not for longer than messages between tabs take. */
async function soon(look: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + MESSAGE_MS;
  while (!(await look()) && Date.now() < end) await delay(LOOK_MS);
}
