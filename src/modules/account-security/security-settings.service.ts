import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { type AuditEvent, AuditReader } from '../../platform/audit/audit-reader.js';
import type { AccountContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { Errors } from '../../platform/http/errors.js';
import { CredentialsApi, type SessionRow, SessionsApi } from '../identity/index.js';
import { SecurityErrors } from './account-security.errors.js';
import { ApplicationPasswords } from './application-passwords/application-passwords.service.js';
import { Passkeys } from './two-factor/passkeys/passkeys.service.js';
import { SecondFactorEnrolment } from './two-factor/second-factor-enrolment.js';
import { SecurityLog } from './security-log.js';
import type { SecurityEventState, SecurityState, SessionState, SignedOut } from './security-settings.dto.js';

const RECENT_EVENTS = 20;

/** Security state and sessions of an account, for its owner. */
@Injectable()
export class SecuritySettingsService {
  constructor(
    private readonly credentials: CredentialsApi,
    private readonly sessions: SessionsApi,
    private readonly enrolment: SecondFactorEnrolment,
    private readonly applications: ApplicationPasswords,
    private readonly passkeys: Passkeys,
    private readonly audit: AuditReader,
    private readonly log: SecurityLog,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  async read(ctx: AccountContext): Promise<SecurityState> {
    const [account, recoveryCodesLeft, passkeys, applications, sessions, events] = await Promise.all([
      this.credentials.byId(ctx.userId),
      this.enrolment.recoveryCodesLeft(ctx.userId),
      this.passkeys.list(ctx.userId),
      ctx.tenantId === null ? 0 : this.applications.count(ctx.tenantId, ctx.userId),
      this.sessions.listLive(ctx.userId, ctx.sessionId),
      this.audit.listConcerning(ctx.tenantId, ctx.userId, RECENT_EVENTS),
    ]);
    const since = account?.second_factor_since ?? null;
    return {
      managed_externally: this.config.OIDC_ISSUER !== undefined,
      two_factor: {
        enabled: since !== null,
        since: since?.toISOString() ?? null,
        recovery_codes_left: since === null ? 0 : recoveryCodesLeft,
      },
      passkeys: passkeys.length,
      password_changed_at: account?.password_changed_at?.toISOString() ?? null,
      application_passwords: applications,
      application_password_protocols: [...this.applications.protocols],
      sessions: sessions.map((session) => sessionState(session, ctx.sessionId)),
      recent_events: events.map(eventState),
    };
  }

  /** @throws ApiError 404 */
  async endSession(ctx: AccountContext, id: string): Promise<void> {
    await this.db.tx(async (tx) => {
      if (!(await this.sessions.end(tx, ctx.userId, id))) throw SecurityErrors.notFound.with();
      await this.log.recordOnly(tx, ctx, 'security.session_ended', { session_id: id });
    });
    await this.sessions.refreshNow();
  }

  /** @throws ApiError 409 `managed_externally` for tokens of an external issuer */
  async signOut(ctx: AccountContext, everywhere: boolean): Promise<SignedOut> {
    // An attacker with the password alone must not sign the owner out.
    if (everywhere && ctx.secondFactorPending) throw Errors.secondFactorRequired.with();
    const { sessionId } = ctx;
    if (sessionId === null) throw SecurityErrors.managedExternally.with();
    const ended = await this.db.tx(async (tx) => {
      if (!everywhere) {
        await this.log.recordOnly(tx, ctx, 'security.signed_out');
        return Number(await this.sessions.end(tx, ctx.userId, sessionId));
      }
      const count = await this.sessions.endOthers(tx, ctx.userId, null);
      await this.log.record(tx, ctx, 'security.sessions_ended', { sessions_ended: count });
      return count;
    });
    await this.sessions.refreshNow();
    return { signed_out: true, sessions_ended: ended };
  }
}

/** @param current id of the session of the request */
export function sessionState(row: SessionRow, current: string | null): SessionState {
  return {
    id: row.id,
    current: row.id === current,
    created_at: row.created_at.toISOString(),
    last_seen: row.last_seen_at?.toISOString() ?? null,
    expires_at: row.expires_at.toISOString(),
    client: row.client_id,
    ua: row.user_agent,
    ip: row.ip,
    second_factor: row.aal2_at !== null,
  };
}

const eventState = ({ id, action, occurred_at, ip }: AuditEvent): SecurityEventState => ({
  id,
  action,
  occurred_at,
  ip,
});
