import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { ClientMetadata } from 'oidc-provider';
import { Config } from '../../../config/config.js';
import { Audit, type AuditActor, operator } from '../../../platform/audit/audit.js';
import type { TenantRole } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { emailKey, IdentityApi, SignInSessions } from '../../identity/index.js';
import { TenantsApi } from '../../tenants/index.js';
import { isNative, redirectUriProblem } from './client-uris.js';
import { type ClientKind, type ClientRow, OidcClientsRepository } from './oidc-clients.repository.js';

/** Swagger UI at /apis/v1/docs. */
export const SWAGGER_CLIENT = 'swagger-ui';
/** The example page at /apis/v1/docs/example. */
const EXAMPLE_CLIENT = 'notes-web';
/** Programs without a browser use it: `curl`, scripts, television sets. */
const DEVICE_CLIENT = 'workspace-device';
/** Their addresses are those of the service, also on a loopback address. */
const BUILT_IN_PAGES: ReadonlySet<string> = new Set([SWAGGER_CLIENT, EXAMPLE_CLIENT]);

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const GRANTS: Record<ClientKind, string[]> = {
  public: ['authorization_code', 'refresh_token'],
  confidential: ['authorization_code', 'refresh_token'],
  device: [DEVICE_GRANT, 'refresh_token'],
  service: ['client_credentials'],
};

interface NewClient {
  id?: string;
  kind: ClientKind;
  name: string;
  firstParty: boolean;
  redirectUris: string[];
  logoutUris: string[];
  /** Workspace and role of a service. */
  tenantId?: string;
  role?: TenantRole;
  /** Workspace and administrator that register the client; default: the operator. */
  owner?: { tenantId: string; userId: string; scopes: string[] | null };
}

/** A listed client, without the secret. */
interface ListedClient {
  id: string;
  kind: ClientKind;
  name: string;
  first_party: boolean;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  /** Slug of the workspace of a service. */
  tenant: string | null;
  from: 'built in' | 'OIDC_CLIENTS' | 'database';
}

/** The clients of the file OIDC_CLIENTS. */
export class ConfiguredClients {
  constructor(readonly clients: readonly ClientRow[]) {}
}

/** OAuth clients: built-in ones, those of the file OIDC_CLIENTS, and those of the database. */
@Injectable()
export class OidcClientsApi {
  private readonly builtIn: Map<string, ClientRow>;
  private readonly configured: Map<string, ClientRow>;

  constructor(
    private readonly repository: OidcClientsRepository,
    private readonly identity: IdentityApi,
    private readonly sessions: SignInSessions,
    private readonly tenants: TenantsApi,
    private readonly audit: Audit,
    private readonly db: Db,
    configured: ConfiguredClients,
    config: Config,
  ) {
    this.builtIn = new Map(builtInClients(config).map((client) => [client.id, client]));
    this.configured = new Map(configured.clients.map((client) => [client.id, client]));
  }

  async find(id: string): Promise<ClientRow | null> {
    // No client has another id, and PostgreSQL cannot store all characters.
    if (!/^[\w.-]{1,100}$/.test(id)) return null;
    return this.builtIn.get(id) ?? this.configured.get(id) ?? (await this.repository.find(id));
  }

  /** The scopes that a client may have; null: all. Empty for an unknown client. */
  async allowedScopes(id: string): Promise<ReadonlySet<string> | null> {
    const client = await this.find(id);
    if (!client) return new Set();
    return client.scopes === null ? null : new Set(client.scopes);
  }

  /** The client as metadata of OpenID Connect Dynamic Client Registration. */
  async metadata(id: string): Promise<ClientMetadata | undefined> {
    const client = await this.find(id);
    return client ? metadataOf(client) : undefined;
  }

  /**
   * Registers a client. The creation of a service also creates its account, a member of its workspace.
   * @param accept runs in the transaction before the registration; its error rejects the client
   * @returns the id and the secret, which is stored only as a hash; null for kinds without one
   * @throws Error when the id is taken or a URI is invalid
   */
  async add(
    input: NewClient,
    actor: AuditActor = operator(input.tenantId ?? null),
    accept?: (tx: Tx) => Promise<void>,
  ): Promise<{ id: string; secret: string | null }> {
    const { kind, name, firstParty, redirectUris, logoutUris, owner } = input;
    const id = input.id ?? randomBytes(12).toString('hex');
    assertValid({ ...input, id });
    const taken = new Error(`The client "${id}" already exists.`);
    if (this.builtIn.has(id) || this.configured.has(id)) throw taken;
    const hasSecret = kind === 'confidential' || kind === 'service';
    const { secret, hash: secretHash } = hasSecret ? newClientSecret() : { secret: null, hash: null };
    const tenantId = input.tenantId ?? null;
    await this.db.tx(async (tx) => {
      await accept?.(tx);
      const accountId = kind === 'service' ? await this.addServiceAccount(tx, { ...input, id }) : null;
      const row = { id, kind, name, firstParty, redirectUris, logoutUris, secretHash, accountId, tenantId };
      const owned = { ownerTenantId: owner?.tenantId ?? null, scopes: owner?.scopes ?? null };
      if (!(await this.repository.create(tx, { ...row, ...owned }, owner?.userId ?? null))) throw taken;
      await this.audit.record(tx, actor, {
        action: 'identity.client.added',
        objectKind: 'client',
        objectId: id,
        data: { kind, name, first_party: firstParty, redirect_uris: redirectUris, account_id: accountId },
      });
    });
    return { id, secret };
  }

  async list(): Promise<ListedClient[]> {
    const stored = await this.repository.list();
    return [
      ...[...this.builtIn.values()].map((row) => presentClient(row, null, 'built in' as const)),
      ...[...this.configured.values()].map((row) => presentClient(row, null, 'OIDC_CLIENTS' as const)),
      ...stored.map((row) => presentClient(row, row.tenant, 'database' as const)),
    ];
  }

  /**
   * Removes a client of the database and ends its sessions.
   * @param accept runs in the transaction after the removal, before the account of a service ends; its error keeps the client
   * @returns the number of ended sessions; null for an unknown client
   */
  async remove(
    id: string,
    actor: AuditActor = operator(null),
    accept?: (tx: Tx) => Promise<void>,
  ): Promise<number | null> {
    return this.db.tx(async (tx) => {
      const accountId = await this.repository.remove(tx, id);
      if (accountId === undefined) return null;
      await accept?.(tx);
      const ended = await this.sessions.endOfClient(tx, id);
      if (accountId !== null) {
        await this.tenants.endMemberships(tx, accountId);
        await this.identity.deactivate(tx, accountId);
      }
      await this.audit.record(tx, actor, {
        action: 'identity.client.removed',
        objectKind: 'client',
        objectId: id,
        data: { ended_sessions: ended },
      });
      return ended;
    });
  }

  /** Creates the account of a service: a member without a password. */
  private async addServiceAccount(tx: Tx, client: NewClient & { id: string }): Promise<string> {
    const email = `${client.id}@clients.invalid`.toLowerCase();
    const ids = await this.identity.provision(tx, [{ email, name: client.name }], new Map());
    const userId = ids.get(emailKey(email)) as string;
    await this.identity.activate(tx, userId);
    const member = { userId, email, displayName: client.name, role: client.role ?? null, isService: true };
    await this.tenants.provisionMembers(tx, client.tenantId as string, [member]);
    await this.tenants.setMemberStatus(tx, userId, client.tenantId as string, 'active');
    return userId;
  }
}

/** A random secret of 256 bits, and the SHA-256 that is stored. */
export function newClientSecret(): { secret: string; hash: Buffer } {
  const secret = randomBytes(32).toString('base64url');
  return { secret, hash: createHash('sha256').update(secret).digest() };
}

function builtInClients(config: Config): ClientRow[] {
  const none = {
    secretHash: null,
    logoutUris: [],
    accountId: null,
    tenantId: null,
    ownerTenantId: null,
    scopes: null,
    firstParty: true,
  };
  const docs = `${config.publicUrl}/apis/v1/docs`;
  const page = [`${docs}/example`];
  const example: ClientRow = {
    ...none,
    id: EXAMPLE_CLIENT,
    kind: 'public',
    name: 'Notes',
    redirectUris: page,
    logoutUris: page,
  };
  return [
    {
      ...none,
      id: SWAGGER_CLIENT,
      kind: 'public',
      name: 'Swagger UI',
      redirectUris: [`${docs}/oauth2-redirect.html`],
      logoutUris: [docs],
    },
    { ...none, id: DEVICE_CLIENT, kind: 'device', name: 'Command line', redirectUris: [] },
    ...(config.demo ? [example] : []),
  ];
}

function metadataOf(client: ClientRow): ClientMetadata {
  const secret = client.secretHash?.toString('hex');
  // Native clients have no secret; the built-in pages are web clients.
  const native =
    client.kind === 'public' && !BUILT_IN_PAGES.has(client.id) && client.redirectUris.some(isNative);
  return {
    client_id: client.id,
    client_name: client.name,
    application_type: native ? 'native' : 'web',
    redirect_uris: client.redirectUris,
    post_logout_redirect_uris: client.logoutUris,
    grant_types: GRANTS[client.kind],
    response_types: client.redirectUris.length > 0 ? ['code'] : [],
    token_endpoint_auth_method: secret ? 'client_secret_basic' : 'none',
    // The provider compares hashes (see oidc-provider.ts).
    ...(secret && { client_secret: secret }),
  };
}

function assertValid({ id, kind, redirectUris, logoutUris, tenantId }: NewClient & { id: string }): void {
  if (!/^[\w.-]{1,100}$/.test(id))
    throw new Error('A client id is 1 to 100 letters, digits, dots and hyphens.');
  for (const uri of [...redirectUris, ...logoutUris]) {
    const problem = redirectUriProblem(uri);
    if (problem) throw new Error(`${uri} ${problem}.`);
  }
  const browser = kind === 'public' || kind === 'confidential';
  if (browser && redirectUris.length === 0) throw new Error(`A ${kind} client needs a redirect URI.`);
  if (!browser && redirectUris.length > 0) throw new Error(`A ${kind} client has no redirect URIs.`);
  if ((kind === 'service') !== (tenantId !== undefined))
    throw new Error('A service client, and no other, requires the slug of a workspace.');
}

function presentClient(row: ClientRow, tenant: string | null, from: ListedClient['from']): ListedClient {
  const { id, kind, name, firstParty, redirectUris, logoutUris } = row;
  return {
    id,
    kind,
    name,
    first_party: firstParty,
    redirect_uris: redirectUris,
    post_logout_redirect_uris: logoutUris,
    tenant,
    from,
  };
}
