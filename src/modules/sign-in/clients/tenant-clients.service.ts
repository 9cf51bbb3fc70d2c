import { Injectable } from '@nestjs/common';
import { NIL, v7 as uuidv7 } from 'uuid';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { fieldError } from '../../../platform/http/errors.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { MemberAdmission } from '../../access/index.js';
import { SessionsApi } from '../../identity/index.js';
import { newClientSecret, OidcClientsApi } from './oidc-clients.api.js';
import {
  type ListedClientRow,
  OidcClientsRepository,
  type OwnedClientRow,
} from './oidc-clients.repository.js';
import { ClientErrors } from './tenant-clients.errors.js';
import type { CreateTenantClient } from './tenant-clients.dto.js';
import type {
  TenantClientEnvelope,
  TenantClientListEnvelope,
  TenantClientResponse,
  TenantClientSecretEnvelope,
} from './tenant-clients.response.js';

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
      rows: (after, limit) => this.repository.owned(tenantId, after?.[0] ?? NIL, limit),
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
