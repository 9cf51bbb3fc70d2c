import { Injectable } from '@nestjs/common';
import { Audit } from '../../../platform/audit/audit.js';
import { Db } from '../../../platform/database/db.js';
import { SignInSessions } from '../../identity/index.js';
import { oidcLibrary } from '../model/oidc-library.js';

/** Names of the kinds of codes and tokens in the audit log. */
const KINDS: Record<string, string> = {
  AuthorizationCode: 'authorization_code',
  DeviceCode: 'device_code',
  RefreshToken: 'refresh_token',
};

/** Writes the second use of a code or refresh token, which indicates a leak, to the audit log. */
@Injectable()
export class TokenReuse {
  constructor(
    private readonly sessions: SignInSessions,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** @param model of the provider */
  async record(model: string, grantId: string): Promise<void> {
    const owner = await this.sessions.ownerOf(grantId);
    if (!owner) return;
    const { accountId, tenantId, clientId } = owner;
    const { Provider } = await oidcLibrary();
    const request = (Provider.ctx?.req ?? {}) as { ip?: string; id?: string };
    const actor = {
      tenantId,
      userId: null,
      sessionId: grantId,
      ip: request.ip ?? null,
      requestId: request.id ?? null,
    };
    await this.db.tx((tx) =>
      this.audit.record(tx, actor, {
        action: 'identity.credential.reused',
        objectKind: 'user',
        objectId: accountId,
        data: { kind: KINDS[model] ?? model, client: clientId },
      }),
    );
  }
}
