// An application of the company: a server that signs its users in at the workspace and reads the API as them.
import { once } from 'node:events';
import { createServer } from 'node:http';
import * as oidc from 'openid-client';

/** Consent is requested again at each sign-in, as the scope `offline_access` requires. */
const SCOPE = 'openid profile email offline_access workspace';

export class Application {
  #server;
  #pending = new Map();
  /** The tokens and the claims of the last sign-in. */
  tokens;
  claims;

  constructor(server) {
    this.#server = server;
    server.on('request', (request, response) => void this.#serve(request, response));
  }

  static async start() {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Application(server);
  }

  get origin() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  get redirectUri() {
    return `${this.origin}/callback`;
  }

  /** Configures the client that an administrator has registered. @param workspace origin of the service */
  async connect(workspace, clientId, secret) {
    this.workspace = workspace;
    const auth = oidc.ClientSecretBasic(secret);
    const options = { execute: [oidc.allowInsecureRequests] };
    this.config = await oidc.discovery(new URL(`${workspace}/apis/v1/oidc`), clientId, {}, auth, options);
  }

  /** Reads the API with a token of the user. @returns status and body */
  async read(path, token = this.tokens.access_token) {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${this.workspace}/apis/v1${path}`, { headers });
    return { status: response.status, body: await response.json() };
  }

  /** Renews the tokens. @throws OAuth errors */
  async refresh() {
    this.tokens = await oidc.refreshTokenGrant(this.config, this.tokens.refresh_token);
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request, response) {
    const url = new URL(request.url, this.origin);
    try {
      if (url.pathname === '/') response.writeHead(302, { location: await this.#begin() }).end();
      else if (url.pathname === '/callback') show(response, await this.#finish(url));
      else response.writeHead(404).end();
    } catch (error) {
      show(response, `Failed: ${error.error ?? error.message}`);
    }
  }

  async #begin() {
    const [verifier, state] = [oidc.randomPKCECodeVerifier(), oidc.randomState()];
    this.#pending.set(state, verifier);
    const url = oidc.buildAuthorizationUrl(this.config, {
      redirect_uri: this.redirectUri,
      scope: SCOPE,
      prompt: 'consent',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    });
    return url.href;
  }

  async #finish(url) {
    const state = url.searchParams.get('state');
    this.tokens = await oidc.authorizationCodeGrant(this.config, url, {
      pkceCodeVerifier: this.#pending.get(state),
      expectedState: state,
    });
    const { sub } = this.tokens.claims();
    this.claims = await oidc.fetchUserInfo(this.config, this.tokens.access_token, sub);
    return `Time sheets of ${this.claims.name}`;
  }
}

function show(response, text) {
  const page = `<!doctype html><html lang="en"><title>Time sheets</title><h1></h1></html>`;
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(page.replace('<h1>', () => `<h1>${escaped}`));
}
