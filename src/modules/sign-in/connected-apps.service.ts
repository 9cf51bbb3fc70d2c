import { Injectable } from '@nestjs/common';
import { Audit } from '../../platform/audit/audit.js';
import type { AccountContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { defineError } from '../../platform/http/errors.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';
import { SessionsApi, type SessionRow } from '../identity/index.js';
import { TenantsApi } from '../tenants/index.js';
import { OidcClientsApi } from './clients/oidc-clients.api.js';
import { OidcRecords } from './records/oidc-records.js';
import type {
  ConnectedApp,
  ConnectedAppListEnvelope,
  ConnectedAppRemoved,
} from './consents/connected-apps.response.js';

const clientOf = (row: SessionRow): string => row.client_id;

export const notConnected = defineError(404, 'not_found', 'You have not connected such an application.');

/** Third-party applications that act as the user: their live sessions, by client. */
@Injectable()
export class ConnectedAppsService {
  constructor(
    private readonly sessions: SessionsApi,
    private readonly clients: OidcClientsApi,
    private readonly tenants: TenantsApi,
    private readonly records: OidcRecords,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  async list(ctx: AccountContext): Promise<ConnectedAppListEnvelope> {
    const byClient = Map.groupBy(
      await this.sessions.listRecent(ctx.userId, QUOTAS.account.sessions),
      clientOf,
    );
    const names = new Map((await this.tenants.workspacesOf(ctx.userId)).map(({ id, name }) => [id, name]));
    const applications: ConnectedApp[] = [];
    for (const [id, rows] of byClient) {
      const client = await this.clients.find(id);
      if (client && !client.firstParty) applications.push(await this.present(client, rows, names));
    }
    return { applications: applications.toSorted((a, b) => a.name.localeCompare(b.name)), next: null };
  }

  /** @throws ApiError 404 */
  async remove(ctx: AccountContext, clientId: string): Promise<ConnectedAppRemoved> {
    const client = await this.clients.find(clientId);
    const live = client && !client.firstParty ? await this.sessions.allLive(ctx.userId) : [];
    const rows = live.filter((row) => clientOf(row) === clientId);
    if (rows.length === 0) throw notConnected.with();
    for (const { id } of rows) await this.records.endGrant(id);
    const data = { client: clientId, sessions_ended: rows.length };
    const entry = { action: 'identity.consent.revoked', objectKind: 'user', objectId: ctx.userId, data };
    await this.db.tx((tx) => this.audit.record(tx, ctx, entry));
    await this.sessions.refreshNow();
    return { sessions_ended: rows.length };
  }

  private async present(
    { id, name }: { id: string; name: string },
    rows: SessionRow[],
    names: Map<string, string>,
  ): Promise<ConnectedApp> {
    const tenantIds = new Set(rows.flatMap((row) => row.tenant_id ?? []));
    const seen = rows.flatMap((row) => row.last_seen_at?.getTime() ?? []);
    return {
      id,
      name,
      scopes: await this.records.scopesOf(rows.map((row) => row.id)),
      workspaces: [...tenantIds].map((tenantId) => ({ id: tenantId, name: names.get(tenantId) ?? '' })),
      sessions: rows.length,
      connected_at: new Date(Math.min(...rows.map((row) => row.created_at.getTime()))).toISOString(),
      last_seen: seen.length === 0 ? null : new Date(Math.max(...seen)).toISOString(),
    };
  }
}
