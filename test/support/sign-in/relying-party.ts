import * as client from 'openid-client';
import type { TestApp } from '../app.ts';

/** The built-in device client. */
export const DEVICE = 'workspace-device';

/** A form of a page. */
interface Form {
  action: string;
  fields: Record<string, string>;
}

export interface Shown {
  status: number;
  url: string;
  html: string;
  headers: Headers;
  form: Form | null;
}

const unescape = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** A browser without scripts: stores cookies by path, follows redirects inside the service, submits forms. */
export class Browser {
  private cookies: { name: string; value: string; path: string }[] = [];

  constructor(
    readonly base: string,
    readonly headers: Record<string, string> = {},
  ) {}

  /** @returns the page, or an external redirect (`status` 0, `url` the target) */
  async open(url: string, init: RequestInit = {}): Promise<Shown> {
    let [next, request] = [new URL(url, this.base), init];
    for (let hops = 0; hops < 15; hops += 1) {
      const response = await fetch(next, {
        ...request,
        redirect: 'manual',
        headers: {
          accept: 'text/html',
          ...this.headers,
          ...Object(request.headers),
          cookie: this.cookieFor(next),
        },
      });
      this.keep(response, next);
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null) return shown(response, next);
      await response.arrayBuffer();
      next = new URL(location, next);
      request = {};
      if (next.origin !== new URL(this.base).origin || next.pathname.startsWith('/callback'))
        return { status: 0, url: next.href, html: '', headers: response.headers, form: null };
    }
    throw new Error(`too many redirects: ${next.href}`);
  }

  /** Submits the form of a page with the given values and button. */
  async submit(page: Shown, typed: Record<string, string>): Promise<Shown> {
    if (!page.form) throw new Error(`no form on the page: ${page.status} ${page.html}`);
    const fields = { ...page.form.fields, ...typed };
    return this.open(new URL(page.form.action, page.url).href, {
      method: 'POST',
      body: new URLSearchParams(fields),
    });
  }

  /** Deletes all cookies, like a new browser. */
  forget(): void {
    this.cookies = [];
  }

  private keep(response: Response, url: URL): void {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(/;\s*/);
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? url.pathname;
      const gone = attributes.some((attribute) => /^expires=thu, 01 jan 1970/i.test(attribute));
      this.cookies = this.cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
      if (!gone) this.cookies.push({ name, value, path });
    }
  }

  private cookieFor({ pathname }: URL): string {
    return this.cookies
      .filter(({ path }) => pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }
}

async function shown(response: Response, url: URL): Promise<Shown> {
  const html = await response.text();
  return { status: response.status, url: url.href, html, headers: response.headers, form: formOf(html) };
}

function formOf(html: string): Form | null {
  const action = /<form method="post" action="([^"]*)"/.exec(html)?.[1];
  if (action === undefined) return null;
  const fields: Record<string, string> = {};
  for (const [input] of html.matchAll(/<input [^>]*>/g)) {
    const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(input)?.[1];
    const name = attribute('name');
    if (name === undefined) continue;
    if (attribute('type') === 'radio' && !/ checked/.test(input)) continue;
    fields[name] = unescape(attribute('value') ?? '');
  }
  return { action: unescape(action), fields };
}

export const REDIRECT = 'https://app.example/callback';

/** A client for sign-in, based on a certified library. */
export class RelyingParty {
  private constructor(
    readonly config: client.Configuration,
    readonly base: string,
    readonly redirectUri: string,
  ) {}

  static async discover(
    app: TestApp,
    clientId: string,
    {
      secret,
      redirectUri = REDIRECT,
      base = app.base,
    }: { secret?: string; redirectUri?: string; base?: string } = {},
  ): Promise<RelyingParty> {
    const auth = secret === undefined ? client.None() : client.ClientSecretBasic(secret);
    const issuer = new URL(`${base}/apis/v1/oidc`);
    const options = { execute: [client.allowInsecureRequests] };
    const config = await client.discovery(issuer, clientId, {}, auth, options);
    return new RelyingParty(config, base, redirectUri);
  }

  /** The authorization URL, and the state for the callback. */
  async begin(extra: Record<string, string> = {}) {
    const verifier = client.randomPKCECodeVerifier();
    const state = client.randomState();
    const nonce = client.randomNonce();
    const url = client.buildAuthorizationUrl(this.config, {
      redirect_uri: this.redirectUri,
      scope: 'openid profile email workspace',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
      ...extra,
    });
    return { url: url.href, verifier, state, nonce };
  }

  /** Exchanges the code of the callback. */
  async finish(callback: string, begun: { verifier: string; state: string; nonce: string }) {
    if (!callback.startsWith(this.redirectUri)) throw new Error(`not sent back to the client: ${callback}`);
    return client.authorizationCodeGrant(this.config, new URL(callback), {
      pkceCodeVerifier: begun.verifier,
      expectedState: begun.state,
      expectedNonce: begun.nonce,
    });
  }

  /** The complete sign-in of a user with a password only. */
  async signIn(browser: Browser, email: string, password: string, extra: Record<string, string> = {}) {
    const begun = await this.begin(extra);
    const page = await browser.open(begun.url);
    const after = await browser.submit(page, { email, password, step: 'password' });
    if (after.status !== 0) throw new Error(`not signed in: ${after.status} ${after.html}`);
    return this.finish(after.url, begun);
  }

  refresh = (token: string) => client.refreshTokenGrant(this.config, token);
  userInfo = (token: string, subject: string) => client.fetchUserInfo(this.config, token, subject);
  revoke = (token: string) => client.tokenRevocation(this.config, token);
}
