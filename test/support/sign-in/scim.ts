import type { TestApp, TestUser } from '../app.ts';
import type { ApiResponse, RequestOptions } from '../network/client.ts';
import { Client } from '../network/client.ts';

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** An identity provider: a client with the token of a workspace and the media type of SCIM. */
export class ScimClient {
  private readonly client: Client;

  constructor(
    base: string,
    readonly token: string,
  ) {
    this.client = new Client(base, token);
  }

  /** Creates a token of the workspace of an owner, and verifies a domain for it. */
  static async of(app: TestApp, owner: TestUser, domain: string): Promise<ScimClient> {
    await app.sql(
      `INSERT INTO tenant_domains (tenant_id, domain, verified_at) VALUES ($1, $2, now()) ON CONFLICT DO NOTHING`,
      [owner.tenantId, domain],
    );
    const { status, body } = await owner.api.post('/tenant/scim/tokens', { name: 'Identity provider' });
    if (status !== 201) throw new Error(`no SCIM token: ${JSON.stringify(body)}`);
    return new ScimClient(app.base, body.secret);
  }

  get = (path: string, headers?: Record<string, string>) => this.send('GET', path, undefined, headers);
  post = (path: string, body: unknown) => this.send('POST', path, body);
  put = (path: string, body: unknown, headers?: Record<string, string>) =>
    this.send('PUT', path, body, headers);
  delete = (path: string, headers?: Record<string, string>) => this.send('DELETE', path, undefined, headers);
  patch = (path: string, operations: unknown[], headers?: Record<string, string>) =>
    this.send('PATCH', path, { schemas: [PATCH_OP], Operations: operations }, headers);

  /** Creates a user and returns the resource. */
  async user(userName: string, more: object = {}): Promise<any> {
    const { status, body } = await this.post('/Users', { schemas: [USER_SCHEMA], userName, ...more });
    if (status !== 201) throw new Error(`no user: ${JSON.stringify(body)}`);
    return body;
  }

  /** The resources that match a filter. */
  async find(path: string, filter: string): Promise<any[]> {
    const { body } = await this.get(`${path}?filter=${encodeURIComponent(filter)}`);
    return body.Resources;
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const options: RequestOptions = {
      body,
      headers: { 'content-type': 'application/scim+json', ...headers },
    };
    if (body === undefined) options.headers = headers;
    return this.client.request(method, `/scim/v2${path}`, options);
  }
}
