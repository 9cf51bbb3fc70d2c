import { Body, Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { NIL, v7 as uuidv7 } from 'uuid';
import { Audit } from '../../../platform/audit/audit.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { fieldError } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { AccessErrors, MemberAdmission } from '../../access/index.js';
import { SessionsApi } from '../../identity/index.js';
import { newClientSecret, OidcClientsApi } from './oidc-clients.api.js';
import {
  type ListedClientRow,
  OidcClientsRepository,
  type OwnedClientRow,
} from './oidc-clients.repository.js';
import {
  ClientErrors,
  CreateTenantClient,
  TenantClientEnvelope,
  TenantClientListEnvelope,
  type TenantClientResponse,
  TenantClientSecretEnvelope,
} from './tenant-clients.dto.js';

/** Clients of a workspace: applications for its members, and service accounts. */
@Injectable()
export class TenantClientsService {
  constructor(
    private readonly clients: OidcClientsApi,
    private readonly repository: OidcClientsRepository,
    private readonly admission: MemberAdmission,
    private readonly sessions: SessionsApi,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 401 for an ended session; 403 `forbidden`, `cannot_grant_unheld`; 422 `validation_failed`, `too_many_clients` */
  async create(ctx: RequestContext, input: CreateTenantClient): Promise<TenantClientSecretEnvelope> {
    const {
      name,
      kind,
      redirect_uris: redirectUris,
      post_logout_redirect_uris: logoutUris,
      scopes,
      role,
    } = input;
    const isService = kind === 'service';
    if (isService && redirectUris.length + logoutUris.length > 0)
      throw fieldError('redirect_uris', 'not_allowed', 'a service has no redirect URIs');
    if (!isService && redirectUris.length === 0)
      throw fieldError('redirect_uris', 'required', 'redirect_uris must not be empty');
    const { id, secret } = await this.clients.add(
      {
        id: uuidv7(),
        kind,
        name,
        firstParty: false,
        redirectUris,
        logoutUris,
        ...(isService && { tenantId: ctx.tenantId, role }),
        owner: { tenantId: ctx.tenantId, userId: ctx.userId, scopes: isService ? null : (scopes ?? null) },
      },
      ctx,
      async (tx) => {
        if (isService) await this.admission.assertMayGive(tx, ctx, 'clients.manage', { role, groupIds: [] });
        if ((await this.repository.countOwned(tx, ctx.tenantId)) >= QUOTAS.workspace.clients)
          throw ClientErrors.tooManyClients.with();
        await this.sessions.requireLive(tx, ctx.sessionId);
      },
    );
    const row = await this.existing(ctx.tenantId, id);
    return { client: present(row), client_secret: secret };
  }

  async list({ tenantId }: RequestContext, query: PageQuery): Promise<TenantClientListEnvelope> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `clients ${tenantId}`,
      key: ({ id }: ListedClientRow): [string] => [id],
      fits: (row) => row.fits,
      rows: (after, limit) => this.repository.listOwned(tenantId, after?.[0] ?? NIL, limit),
    });
    return { clients: rows.map(present), next };
  }

  /** @throws ApiError 404 */
  async read({ tenantId }: RequestContext, id: string): Promise<TenantClientEnvelope> {
    return { client: present(await this.existing(tenantId, id)) };
  }

  /**
   * Replaces the secret; the previous one is invalid at once.
   * @throws ApiError 401 for an ended session; 403 `cannot_grant_unheld`; 404; 409 `client_without_secret`
   */
  async rotate(ctx: RequestContext, id: string): Promise<TenantClientSecretEnvelope> {
    const row = await this.existing(ctx.tenantId, id);
    if (row.secretHash === null) throw ClientErrors.withoutSecret.with();
    const { secret, hash } = newClientSecret();
    await this.db.tx(async (tx) => {
      // Another request may have removed it meanwhile.
      if (!(await this.repository.setSecret(tx, ctx.tenantId, id, hash))) throw ClientErrors.notFound.with();
      await this.assertMayControl(tx, ctx, row);
      await this.sessions.requireLive(tx, ctx.sessionId);
      const entry = { action: 'identity.client.rotated', objectKind: 'client', objectId: id };
      await this.audit.record(tx, ctx, entry);
    });
    return { client: present(row), client_secret: secret };
  }

  /** Removes the client and ends its sessions. @throws ApiError 404; 403 `cannot_grant_unheld` */
  async remove(ctx: RequestContext, id: string): Promise<TenantClientEnvelope> {
    const row = await this.existing(ctx.tenantId, id);
    const ended = await this.clients.remove(id, ctx, (tx) => this.assertMayControl(tx, ctx, row));
    // Another request may have removed it meanwhile.
    if (ended === null) throw ClientErrors.notFound.with();
    return { client: present(row) };
  }

  /** The secret of a service acts with the permissions of its account, and its removal deactivates a member. */
  private async assertMayControl(tx: Tx, ctx: RequestContext, { accountId }: OwnedClientRow): Promise<void> {
    if (accountId !== null) await this.admission.assertMayControl(tx, ctx, 'clients.manage', accountId);
  }

  private async existing(tenantId: string, id: string): Promise<OwnedClientRow> {
    const row = await this.repository.findOwned(tenantId, id);
    if (!row) throw ClientErrors.notFound.with();
    return row;
  }
}

function present(row: OwnedClientRow): TenantClientResponse {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    redirect_uris: row.redirectUris,
    post_logout_redirect_uris: row.logoutUris,
    scopes: row.scopes,
    user_id: row.accountId,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
  };
}

@ApiTags('tenant')
@Controller('tenant/clients')
export class TenantClientsController {
  constructor(private readonly clients: TenantClientsService) {}

  @Endpoint('POST', {
    id: 'createTenantClient',
    summary: 'Register an application or a service account of the workspace',
    description:
      'An application signs in members of this workspace, with their consent. A service signs in with its secret (OAuth client credentials) and acts as a member of its own.',
    status: 201,
    response: [TenantClientSecretEnvelope, 'The client, and its secret, which is not returned again.'],
    errors: [ClientErrors.tooManyClients, AccessErrors.cannotGrantUnheld],
  })
  @Requires('clients.manage')
  create(@Ctx() ctx: RequestContext, @Body() body: CreateTenantClient): Promise<TenantClientSecretEnvelope> {
    return this.clients.create(ctx, body);
  }

  @Endpoint('GET', {
    id: 'listTenantClients',
    summary: 'List the applications and service accounts of the workspace',
    description: 'Only clients that this workspace created, without secrets.',
    response: [TenantClientListEnvelope, 'A page of clients, oldest first.'],
  })
  @Requires('clients.manage')
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery): Promise<TenantClientListEnvelope> {
    return this.clients.list(ctx, query);
  }

  @Endpoint('GET :client_id', {
    id: 'readTenantClient',
    summary: 'Read a client of the workspace',
    description: 'Its settings, without the secret.',
    response: [TenantClientEnvelope, 'The client.'],
    errors: [ClientErrors.notFound],
  })
  @Requires('clients.manage')
  read(@Ctx() ctx: RequestContext, @Id('client_id') id: string): Promise<TenantClientEnvelope> {
    return this.clients.read(ctx, id);
  }

  @Endpoint('POST :client_id/secret', {
    id: 'rotateTenantClientSecret',
    summary: 'Replace the secret of a client',
    description:
      'The previous secret is invalid at once. Sessions continue. For a service, the caller must hold all permissions of its account.',
    status: 200,
    response: [TenantClientSecretEnvelope, 'The client, and its new secret, which is not returned again.'],
    errors: [ClientErrors.notFound, ClientErrors.withoutSecret, AccessErrors.cannotGrantUnheld],
  })
  @Requires('clients.manage')
  rotate(@Ctx() ctx: RequestContext, @Id('client_id') id: string): Promise<TenantClientSecretEnvelope> {
    return this.clients.rotate(ctx, id);
  }

  @Endpoint('DELETE :client_id', {
    id: 'removeTenantClient',
    summary: 'Remove a client of the workspace',
    description:
      'Its sessions end within five seconds. The account of a service is closed; the caller must hold all its permissions.',
    response: [TenantClientEnvelope, 'The removed client.'],
    errors: [ClientErrors.notFound, AccessErrors.cannotGrantUnheld],
  })
  @Requires('clients.manage')
  remove(@Ctx() ctx: RequestContext, @Id('client_id') id: string): Promise<TenantClientEnvelope> {
    return this.clients.remove(ctx, id);
  }
}
