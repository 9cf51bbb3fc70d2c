import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';

interface Key {
  kid: string;
  privateKey: CryptoKey;
  publicJwk: object;
}

interface Code {
  clientId: string;
  redirectUri: string;
  challenge: string;
  nonce: string;
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** An OpenID issuer with a sign-in that needs no page. Its fields make its responses invalid or hostile. */
export class SignInIssuer {
  /** Claims of the next ID token, beside those of the protocol, which they replace. */
  claims: Record<string, unknown> = {};
  /** Creates the ID token from its claims; default: signed with the current key. */
  makeToken: (claims: Record<string, unknown>) => Promise<string> = (claims) => this.sign(claims);
  /** Replaces the discovery document. */
  document: ((response: ServerResponse, document: object) => void) | undefined;
  /** Further parameters of the redirect to the client. */
  extra: Record<string, string> = {};
  /** Credentials of the last request for tokens. */
  credentials: string | undefined;
  /** Requests by path. */
  readonly reads: Record<string, number> = {};
  private keys: Key[] = [];
  private readonly codes = new Map<string, Code>();
  private server: Server | undefined;

  static async start(): Promise<SignInIssuer> {
    const issuer = new SignInIssuer();
    await issuer.rotate();
    issuer.server = createServer((request, response) => void issuer.serve(request, response));
    await new Promise<void>((resolve) => issuer.server!.listen(0, '127.0.0.1', resolve));
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server!.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise<void>((resolve) => this.server!.close(() => resolve()));
  }

  /** Replaces the signing key. */
  async rotate(): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
    const kid = `key-${this.keys.length}-${createHash('sha256')
      .update(JSON.stringify(await exportJWK(publicKey)))
      .digest('hex')}`;
    this.keys = [
      { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' } },
    ];
  }

  async sign(claims: Record<string, unknown>): Promise<string> {
    const { kid, privateKey } = this.keys[0]!;
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
  }

  /** A token without a signature (`alg` none). */
  readonly unsigned = async (claims: Record<string, unknown>): Promise<string> =>
    `${encode({ alg: 'none' })}.${encode(claims)}.`;

  /** The user signs in at the address to which the service sent the browser. @returns the redirect to the service */
  async approve(url: string): Promise<string> {
    const response = await fetch(url, { redirect: 'manual' });
    const location = response.headers.get('location');
    if (location === null) throw new Error(`no redirect: ${response.status} ${await response.text()}`);
    return location;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    this.reads[url.pathname] = (this.reads[url.pathname] ?? 0) + 1;
    const json = (body: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return this.document ? this.document(response, this.metadata()) : void json(this.metadata());
      case '/keys':
        return void json({ keys: this.keys.map((key) => key.publicJwk) });
      case '/authorize':
        return this.authorize(url.searchParams, response);
      case '/token':
        return this.token(request, json);
      default:
        return void json({ error: 'not_found' }, 404);
    }
  }

  private metadata() {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    };
  }

  private authorize(query: URLSearchParams, response: ServerResponse): void {
    const code = `code-${this.codes.size}`;
    const redirectUri = query.get('redirect_uri') ?? '';
    this.codes.set(code, {
      clientId: query.get('client_id') ?? '',
      redirectUri,
      challenge: query.get('code_challenge') ?? '',
      nonce: query.get('nonce') ?? '',
    });
    const back = new URL(redirectUri);
    const values = { code, state: query.get('state') ?? '', iss: this.url, ...this.extra };
    for (const [name, value] of Object.entries(values)) back.searchParams.set(name, value);
    response.writeHead(302, { location: back.href }).end();
  }

  private async token(
    request: IncomingMessage,
    json: (body: unknown, status?: number) => void,
  ): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = new URLSearchParams(text);
    this.credentials = request.headers.authorization;
    const code = this.codes.get(body.get('code') ?? '');
    const verifier = body.get('code_verifier') ?? '';
    const isValid =
      code !== undefined &&
      code.redirectUri === body.get('redirect_uri') &&
      createHash('sha256').update(verifier).digest('base64url') === code.challenge;
    if (!isValid) return json({ error: 'invalid_grant' }, 400);
    this.codes.delete(body.get('code')!);
    const now = Math.floor(Date.now() / 1000);
    const standard = { iss: this.url, aud: code.clientId, iat: now, exp: now + 300, nonce: code.nonce };
    const id_token = await this.makeToken({ ...standard, ...this.claims });
    return json({ access_token: 'opaque', token_type: 'Bearer', id_token });
  }
}
