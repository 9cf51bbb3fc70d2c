import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import type { Config } from '../../config/config.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { AccountSecurityModule } from '../account-security/index.js';
import { IssuersModule } from '../issuers/index.js';
import { TenantsModule } from '../tenants/index.js';
import { readClientFile } from './clients/client-file.js';
import { ConfiguredClients, OidcClientsApi } from './clients/oidc-clients.api.js';
import { OidcClientsRepository } from './clients/oidc-clients.repository.js';
import { TenantClientsController, TenantClientsService } from './clients/tenant-clients.controller.js';
import { ConnectedAppsController } from './consents/connected-apps.controller.js';
import { ConnectedAppsService } from './connected-apps.service.js';
import { Interactions } from './interactions.js';
import { IssuerSteps, SignInCompletion } from './sign-in-completion.js';
import { KnownBrowsers } from './interaction/known-browsers.js';
import { OidcAccounts } from './protocol/oidc-accounts.js';
import { OidcProvider } from './oidc-provider.js';
import { OidcRecords, OidcRecordsRepository, TokenReuse } from './records/oidc-records.js';
import { SignInEnrolment } from './sign-in-enrolment.js';
import { SignInForms } from './interaction/sign-in-forms.js';
import { SignInPersonalData } from './sign-in-personal-data.js';
import { SignInGrants } from './sign-in-grants.js';
import { SignInServer } from './sign-in.server.js';

/** Sign-in of users and programs: an OpenID provider and its pages. */
@Module({
  imports: [TenantsModule, AccountSecurityModule, IssuersModule],
  controllers: [TenantClientsController, ConnectedAppsController],
  providers: [
    SignInPersonalData,
    TenantClientsService,
    ConnectedAppsService,
    OidcRecordsRepository,
    OidcRecords,
    TokenReuse,
    OidcClientsRepository,
    OidcClientsApi,
    OidcAccounts,
    OidcProvider,
    SignInForms,
    KnownBrowsers,
    SignInEnrolment,
    IssuerSteps,
    SignInGrants,
    SignInCompletion,
    Interactions,
    SignInServer,
  ],
  exports: [SignInServer, OidcClientsApi],
})
export class SignInModule implements OnModuleInit {
  /** @throws ConfigError for an invalid file OIDC_CLIENTS, before any connection is opened */
  static forRoot({ OIDC_CLIENTS: file }: Config): DynamicModule {
    const useValue = new ConfiguredClients(file ? readClientFile(file) : []);
    return { module: SignInModule, providers: [{ provide: ConfiguredClients, useValue }] };
  }

  constructor(
    private readonly jobs: PeriodicJobs,
    private readonly records: OidcRecordsRepository,
  ) {}

  onModuleInit(): void {
    const run = () => this.records.forgetExpired();
    this.jobs.register({ name: 'sign-in.forget-expired', everySeconds: 300, ofDirectory: true, run });
  }
}
