import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/tx.js';
import { ApiError } from '../../../platform/http/errors.js';
import { CredentialsApi } from '../../identity/index.js';
import { TenantPolicies, TenantsApi } from '../../tenants/index.js';
import { SecurityErrors } from '../account-security.errors.js';
import type { SecurityActor } from '../security-log.js';
import { type CreationOptions, PasskeySite } from './passkeys/webauthn.js';
import { Passkeys } from './passkeys/passkeys.service.js';
import { qrSvg } from './codes.js';
import { type EnableOutcome, SecondFactorEnrolment } from './second-factor-enrolment.js';
import { digits, TwoFactorService } from './two-factor.service.js';

/** A second factor that an account must enable before it can use a workspace. */
export interface DueEnrolment {
  /** Name of a workspace that requires it. */
  workspace: string;
  /** Whether another workspace of the account can be used without it. */
  isOptional: boolean;
}

/** A new authenticator application, as the page of its enrolment shows it. */
export interface NewAuthenticator {
  /** Base32. */
  secret: string;
  /** Key URI. */
  url: string;
  /** The URL as a QR code: an SVG element. */
  qr: string;
}

type Enrolled = EnableOutcome | { outcome: 'enabled'; recoveryCodes: string[] | null };

/** The enrolment of a required second factor during a sign-in, whose user has proven the password only. */
@Injectable()
export class RequiredEnrolment {
  constructor(
    private readonly enrolment: SecondFactorEnrolment,
    private readonly twoFactor: TwoFactorService,
    private readonly passkeys: Passkeys,
    private readonly site: PasskeySite,
    private readonly credentials: CredentialsApi,
    private readonly tenants: TenantsApi,
    private readonly policies: TenantPolicies,
  ) {}

  /**
   * @param tenantId only this workspace; null: all workspaces of the account
   * @returns null when no workspace requires a second factor, or no deadline has passed
   */
  async findDue(accountId: string, tenantId: string | null = null): Promise<DueEnrolment | null> {
    const all = await this.tenants.workspacesOf(accountId);
    const workspaces = tenantId === null ? all : all.filter(({ id }) => id === tenantId);
    const overdue = await Promise.all(workspaces.map(({ id }) => this.isOverdue(id, accountId)));
    const first = workspaces.find((_, n) => overdue[n]);
    return first ? { workspace: first.name, isOptional: overdue.includes(false) } : null;
  }

  /**
   * Creates the secret of an authenticator application.
   * @returns the fingerprint of the secret, for `authenticator`; null when the account has one
   */
  async begin(accountId: string): Promise<string | null> {
    const account = await this.credentials.byId(accountId);
    const started = account && (await this.enrolment.begin(account));
    return started ? fingerprintOf(started.secret) : null;
  }

  /** @returns null when the secret with this fingerprint has expired or was replaced, or the account has a factor */
  async authenticator(accountId: string, fingerprint: string): Promise<NewAuthenticator | null> {
    const account = await this.credentials.byId(accountId);
    const pending = account?.second_factor_since === null && (await this.enrolment.readPending(account));
    if (!pending || fingerprintOf(pending.secret) !== fingerprint) return null;
    return { ...pending, qr: await qrSvg(pending.url) };
  }

  /** Enables the authenticator application with its first code. */
  async enable(actor: SecurityActor, code: string): Promise<Enrolled> {
    const onEnabled = (tx: Tx) => this.twoFactor.enabled(tx, actor);
    return this.enrolment.enable(actor.userId, digits(code), onEnabled, true);
  }

  /** Options of WebAuthn for a new passkey; null where passkeys are not available. */
  async passkeyOptions(actor: SecurityActor): Promise<CreationOptions | null> {
    return this.site.isAvailable ? this.passkeys.begin(ownerOf(actor)) : null;
  }

  /** Registers a passkey as second factor. @param credential RegistrationResponseJSON of WebAuthn */
  async registerPasskey(actor: SecurityActor, name: string, credential: unknown): Promise<Enrolled> {
    try {
      const { recoveryCodes } = await this.passkeys.register(ownerOf(actor), name, credential);
      return { outcome: 'enabled', recoveryCodes };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { alreadyEnabled, invalidPasskey, passkeyRegistered } = SecurityErrors;
      if (error.kind === alreadyEnabled) return { outcome: 'not_pending' };
      if (error.kind === invalidPasskey || error.kind === passkeyRegistered) return { outcome: 'invalid' };
      throw error;
    }
  }

  private async isOverdue(tenantId: string, accountId: string): Promise<boolean> {
    if (!(await this.policies.readPolicy(tenantId)).second_factor_required) return false;
    const member = await this.tenants.membership(tenantId, accountId);
    const deadline = member && (await this.policies.secondFactorDeadline(tenantId, member.since));
    return deadline !== null && deadline.getTime() <= Date.now();
  }
}

/** A sign-in has no session yet. */
const ownerOf = ({ userId, tenantId, ip = null, requestId }: SecurityActor) => ({
  userId,
  tenantId,
  sessionId: null,
  ip,
  ...(requestId !== undefined && { requestId }),
});

const fingerprintOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url');
