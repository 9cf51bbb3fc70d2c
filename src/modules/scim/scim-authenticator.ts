import { createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { bearerToken, notAuthenticated } from '../../platform/context/bearer.guard.js';
import type { AuthenticatedRequest } from '../../platform/context/request-context.js';
import type { RequestAuthenticator } from '../../platform/context/access.decorators.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import { RequestLimiter } from '../../platform/rate-limits/rate-limit.guard.js';
import { readToken } from '../../platform/secrets/secret-box.js';
import type { WorkspaceActor } from '../access/index.js';
import type { ScimToken } from './scim.schema.js';

const USE_RECORDED_MS = 300_000;

/** A provisioning client: the actor of its changes. */
export type ScimActor = WorkspaceActor & {
  /** The owner who created its token; null: no longer known. */
  tokenOwner: string | null;
};

type TokenRow = Pick<ScimToken, 'id' | 'created_by' | 'last_used_at'>;

const find = workspace.statement<TokenRow>(
  'scim.find_token',
  `SELECT id, created_by, last_used_at FROM scim_tokens
    WHERE tenant_id = $1 AND token_hash = $2 AND (expires_at IS NULL OR expires_at > now())`,
);

const recordUse = workspace.statement<never>(
  'scim.record_use',
  `UPDATE scim_tokens SET last_used_at = now() WHERE tenant_id = $1 AND id = $2`,
);

type ScimRequest = Request & Partial<Pick<AuthenticatedRequest, 'id' | 'tenantId'>> & { scim?: ScimActor };

/** Authenticates requests by the token of a provisioning client, and limits their rate. */
@Injectable()
export class ScimAuthenticator implements RequestAuthenticator {
  constructor(
    private readonly requests: RequestLimiter,
    private readonly db: Db,
  ) {}

  async authenticate(request: ScimRequest): Promise<void> {
    const token = bearerToken(request);
    if (token === undefined) throw notAuthenticated(request);
    const { tenantId, hash } = readToken(token);
    const [row] = await this.db.query(find, [tenantId, hash]);
    if (!row) throw notAuthenticated(request);
    this.requests.take(`scim ${row.id}`);
    if (Date.now() - (row.last_used_at?.getTime() ?? 0) > USE_RECORDED_MS)
      await this.db.single((tx) => tx.query(recordUse, [tenantId, row.id]));
    request.tenantId = tenantId;
    request.scim = {
      tenantId,
      userId: null,
      requestId: request.id ?? null,
      ip: request.ip ?? null,
      facts: { scim_token: row.id },
      tokenOwner: row.created_by,
    };
  }
}

/** Injects the provisioning client. */
export const Actor = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<ScimRequest>().scim,
);
