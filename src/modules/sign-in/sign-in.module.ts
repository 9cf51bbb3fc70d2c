import { Module, type OnModuleInit } from '@nestjs/common';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { AccountSecurityModule } from '../account-security/index.js';
import { TenantsModule } from '../tenants/index.js';
import { Interactions } from './interactions.js';
import { OidcAccounts } from './oidc-accounts.js';
import { OidcClientsApi } from './oidc-clients.api.js';
import { OidcClientsRepository } from './oidc-clients.repository.js';
import { OidcProvider } from './oidc-provider.js';
import { OidcRecords } from './oidc-records.js';
import { OidcRecordsRepository } from './oidc-records.repository.js';
import { SignInGrants } from './sign-in-grants.js';
import { SignInServer } from './sign-in.server.js';

/** How people and programs get tokens: an OpenID provider and its pages. */
@Module({
  imports: [TenantsModule, AccountSecurityModule],
  providers: [
    OidcRecordsRepository,
    OidcRecords,
    OidcClientsRepository,
    OidcClientsApi,
    OidcAccounts,
    OidcProvider,
    SignInGrants,
    Interactions,
    SignInServer,
  ],
  exports: [SignInServer, OidcClientsApi],
})
export class SignInModule implements OnModuleInit {
  constructor(
    private readonly jobs: PeriodicJobs,
    private readonly records: OidcRecordsRepository,
  ) {}

  onModuleInit(): void {
    const run = () => this.records.forgetExpired();
    this.jobs.register({ name: 'sign-in.forget-expired', everySeconds: 300, run });
  }
}
