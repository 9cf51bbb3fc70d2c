import { Body, Controller, Injectable } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { v7 as uuidv7 } from 'uuid';
import { API_PREFIX, Config } from '../../../config/config.js';
import { Audit } from '../../../platform/audit/audit.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { newToken } from '../../../platform/secrets/secret-box.js';
import { SessionsApi } from '../../identity/index.js';
import { SCIM_PATH } from '../model/scim-reply.js';
import { ScimToken } from '../scim.schema.js';
import {
  ScimErrors,
  CreateScimToken,
  ScimTokenEnvelope,
  ScimTokenListEnvelope,
  type ScimTokenResponse,
  ScimTokenSecretEnvelope,
} from './scim-tokens.dto.js';

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

@ApiTags('tenant')
@Controller('tenant/scim/tokens')
export class ScimTokensController {
  constructor(private readonly tokens: ScimTokensService) {}

  @Endpoint('POST', {
    id: 'createScimToken',
    summary: 'Create a token for an identity provider',
    description:
      'With the token, the identity provider creates, changes and deactivates members and groups of the workspace (SCIM 2.0, `/apis/v1/scim/v2`). It stays valid when its creator leaves.',
    status: 201,
    response: [ScimTokenSecretEnvelope, 'The token, and its secret, which is not returned again.'],
    errors: [ScimErrors.tooManyTokens],
  })
  @Requires('scim.manage')
  create(@Ctx() ctx: RequestContext, @Body() body: CreateScimToken): Promise<ScimTokenSecretEnvelope> {
    return this.tokens.create(ctx, body);
  }

  @Endpoint('GET', {
    id: 'listScimTokens',
    summary: 'List the tokens of identity providers',
    description: 'With name, lifetime and last use, without the secrets.',
    response: [ScimTokenListEnvelope, 'All tokens, oldest first.'],
  })
  @Requires('scim.manage')
  list(@Ctx() ctx: RequestContext): Promise<ScimTokenListEnvelope> {
    return this.tokens.list(ctx);
  }

  @Endpoint('POST :token_id/rotate', {
    id: 'rotateScimToken',
    summary: 'Replace the secret of a token',
    description: 'The previous secret is invalid at once. A limited lifetime starts again.',
    status: 200,
    response: [ScimTokenSecretEnvelope, 'The token, and its new secret, which is not returned again.'],
    errors: [ScimErrors.tokenNotFound],
  })
  @Requires('scim.manage')
  rotate(@Ctx() ctx: RequestContext, @Id('token_id') id: string): Promise<ScimTokenSecretEnvelope> {
    return this.tokens.rotate(ctx, id);
  }

  @Endpoint('DELETE :token_id', {
    id: 'revokeScimToken',
    summary: 'Revoke a token',
    description: 'The secret is invalid at once. Members and groups stay.',
    response: [ScimTokenEnvelope, 'The revoked token.'],
    errors: [ScimErrors.tokenNotFound],
  })
  @Requires('scim.manage')
  revoke(@Ctx() ctx: RequestContext, @Id('token_id') id: string): Promise<ScimTokenEnvelope> {
    return this.tokens.revoke(ctx, id);
  }
}
