import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { API_PREFIX, Config } from '../../../config/config.js';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { newToken } from '../../../platform/secrets/workspace-token.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { SessionsApi } from '../../identity/index.js';
import { ScimToken } from '../scim.entity.js';
import { ScimErrors } from '../scim.errors.js';
import { SCIM_PATH } from '../model/scim-path.js';
import type { CreateScimToken } from './scim-tokens.dto.js';
import type {
  ScimTokenEnvelope,
  ScimTokenListEnvelope,
  ScimTokenResponse,
  ScimTokenSecretEnvelope,
} from './scim-tokens.response.js';

const DAY_MS = 86_400_000;

const lockTokens = workspace.lock('scim.lock_tokens', 'scim tokens');

/** Tokens of provisioning clients: created, replaced and revoked by members with `scim.manage`. Secrets are stored as hashes. */
@Injectable()
export class ScimTokensService {
  constructor(
    private readonly sessions: SessionsApi,
    private readonly audit: Audit,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 401 for an ended session; 422 `too_many_scim_tokens` */
  async create(ctx: RequestContext, input: CreateScimToken): Promise<ScimTokenSecretEnvelope> {
    const { tenantId, userId } = ctx;
    const { name, expires_in_days: days } = input;
    const { token, hash } = newToken(tenantId);
    const row = await this.db.tx(async (tx) => {
      await this.sessions.requireLive(tx, ctx.sessionId);
      await tx.query(lockTokens, [tenantId]);
      const rows = rowsOf(tx, ScimToken);
      const expiresAt = days ? new Date(Date.now() + days * DAY_MS) : null;
      const values = {
        tenant_id: tenantId,
        id: uuidv7(),
        name,
        token_hash: hash,
        created_by: userId,
        expires_at: expiresAt,
      };
      const inserted = (await rows.insert(values)) as ScimToken;
      if ((await rows.count({ tenant_id: tenantId })) > QUOTAS.workspace.scim_tokens)
        throw ScimErrors.tooManyTokens.with();
      await this.log(tx, ctx, 'created', inserted);
      return inserted;
    });
    return this.withSecret(row, token);
  }

  async list({ tenantId }: RequestContext): Promise<ScimTokenListEnvelope> {
    const rows = await rowsOf(this.db, ScimToken).page(
      { tenant_id: tenantId },
      ['id'],
      undefined,
      QUOTAS.workspace.scim_tokens,
    );
    return { scim_tokens: rows.map(present), next: null };
  }

  /** @throws ApiError 401 for an ended session; 404 */
  async rotate(ctx: RequestContext, id: string): Promise<ScimTokenSecretEnvelope> {
    const { tenantId } = ctx;
    const { token, hash } = newToken(tenantId);
    const row = await this.db.tx(async (tx) => {
      await this.sessions.requireLive(tx, ctx.sessionId);
      const rows = rowsOf(tx, ScimToken);
      const before = await rows.lock({ tenant_id: tenantId, id });
      if (!before) throw ScimErrors.tokenNotFound.with();
      const start = before.rotated_at ?? before.created_at;
      const lifetime = before.expires_at && before.expires_at.getTime() - start.getTime();
      const expiresAt = lifetime === null ? null : new Date(Date.now() + lifetime);
      const values = { token_hash: hash, rotated_at: () => 'now()', expires_at: expiresAt };
      const [after] = await rows.update({ tenant_id: tenantId, id }, values);
      await this.log(tx, ctx, 'rotated', before);
      return after as ScimToken;
    });
    return this.withSecret(row, token);
  }

  /** @throws ApiError 404 */
  async revoke(ctx: RequestContext, id: string): Promise<ScimTokenEnvelope> {
    const { tenantId } = ctx;
    return this.db.tx(async (tx) => {
      const [revoked] = await rowsOf(tx, ScimToken).delete({ tenant_id: tenantId, id });
      if (!revoked) throw ScimErrors.tokenNotFound.with();
      await this.log(tx, ctx, 'revoked', revoked);
      return { scim_token: present(revoked) };
    });
  }

  private withSecret(row: ScimToken, secret: string): ScimTokenSecretEnvelope {
    const base_url = `${this.config.publicUrl}/${API_PREFIX}/${SCIM_PATH}`;
    return { scim_token: present(row), secret, base_url };
  }

  private async log(tx: Tx, ctx: RequestContext, change: string, { id, name }: ScimToken): Promise<void> {
    const action = `scim.token.${change}`;
    await this.audit.record(tx, ctx, { action, objectKind: 'scim_token', objectId: id, data: { name } });
  }
}

function present(row: ScimToken): ScimTokenResponse {
  const time = (value: Date | null) => value?.toISOString() ?? null;
  return {
    id: row.id,
    name: row.name,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    rotated_at: time(row.rotated_at),
    expires_at: time(row.expires_at),
    last_used_at: time(row.last_used_at),
  };
}
