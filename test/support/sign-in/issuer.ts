import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';

interface IssuerKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicJwk: object;
}

/** An OpenID provider on its own port: discovery document, key set, and tokens with any claims. */
export class TestIssuer {
  private keys: IssuerKey[] = [];
  private server: Server | undefined;
  /** The response instead of the key set. */
  broken: { status: number; body: string } | undefined;
  private port = 0;
  /** Requests received. */
  reads = 0;

  static async start(): Promise<TestIssuer> {
    const issuer = new TestIssuer();
    await issuer.rotate('ES256');
    await issuer.up();
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Creates a key; the old ones are no longer published. */
  async rotate(alg: string): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    const kid = `key-${Math.random()}`;
    this.keys = [
      { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } },
    ];
  }

  async token(claims: Record<string, unknown>, keyId?: string): Promise<string> {
    const { kid, alg, privateKey } = this.keys[0]!;
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({ iss: this.url, aud: 'workspace-api', iat: now, exp: now + 600, ...claims })
      .setProtectedHeader({ alg, kid: keyId ?? kid })
      .sign(privateKey);
  }

  async up(): Promise<void> {
    if (this.server?.listening) return;
    this.server = createServer((request, response) => {
      this.reads += 1;
      const json = (body: unknown) =>
        response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
      if (request.url === '/.well-known/openid-configuration')
        json({ issuer: this.url, jwks_uri: `${this.url}/keys` });
      else if (request.url !== '/keys') response.writeHead(404).end();
      else if (this.broken) response.writeHead(this.broken.status).end(this.broken.body);
      else json({ keys: this.keys.map((key) => key.publicJwk) });
    });
    await new Promise<void>((resolve) => this.server?.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async down(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise<void>((resolve) => (this.server ? this.server.close(() => resolve()) : resolve()));
  }
}
