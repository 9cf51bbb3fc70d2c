import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { AccessChanges } from '../../platform/context/access-changes.js';
import { BearerStrategy } from '../../platform/context/bearer.guard.js';
import { TokenResolver } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { TxHooks } from '../../platform/events/tx-hooks.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { TENANT_POLICY_CHANGED, TenantsModule } from '../tenants/index.js';
import { AccessWatch } from './access-watch.js';
import { CredentialsApi } from './credentials.api.js';
import { CredentialsRepository } from './credentials.repository.js';
import { IdentityApi } from './identity.api.js';
import { IdentityRepository } from './identity.repository.js';
import { Passwords } from './passwords.js';
import { SessionActivity, SessionsRepository } from './sessions/sessions.repository.js';
import { SessionsApi } from './sessions/sessions.api.js';
import { SignInSessions } from './sessions/sign-in-sessions.js';
import { TokenVerifier } from './token-verifier.js';
import { AccessTokens } from './tokens/access-tokens.js';
import { ExternalTokens } from './tokens/external-tokens.js';
import { JwksController } from './tokens/jwks.controller.js';
import { SigningKeys, SigningKeysRepository } from './tokens/signing-keys.js';
import { AccountPersonalData } from './account-personal-data.js';

/** Global because the bearer guard of every module resolves tokens through it. */
@Global()
@Module({
  imports: [TenantsModule],
  controllers: [JwksController],
  providers: [
    AccountPersonalData,
    IdentityRepository,
    SigningKeysRepository,
    CredentialsRepository,
    SessionsRepository,
    Passwords,
    SigningKeys,
    AccessTokens,
    ExternalTokens,
    AccessWatch,
    SessionActivity,
    TokenVerifier,
    { provide: TokenResolver, useExisting: TokenVerifier },
    { provide: AccessChanges, useExisting: AccessWatch },
    BearerStrategy,
    IdentityApi,
    CredentialsApi,
    SessionsApi,
    SignInSessions,
  ],
  exports: [
    TokenResolver,
    AccessChanges,
    BearerStrategy,
    IdentityApi,
    CredentialsApi,
    SessionsApi,
    SignInSessions,
    SigningKeys,
    Passwords,
  ],
})
export class IdentityModule implements OnModuleInit {
  constructor(
    private readonly jobs: PeriodicJobs,
    private readonly repository: IdentityRepository,
    private readonly db: Db,
    private readonly hooks: TxHooks,
  ) {}

  onModuleInit(): void {
    const run = () => this.db.single((tx) => this.repository.forgetOld(tx));
    this.jobs.register({ name: 'forget-ended-sessions', everySeconds: 3600, ofDirectory: true, run });
    this.hooks.on(TENANT_POLICY_CHANGED, (tx, { tenantId, sessionDays }) =>
      this.repository.limitSessions(tx, tenantId, sessionDays),
    );
  }
}
