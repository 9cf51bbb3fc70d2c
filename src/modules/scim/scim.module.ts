import { Module } from '@nestjs/common';
import { AccountSecurityModule } from '../account-security/index.js';
import { SettingsModule } from '../settings/index.js';
import { TenantsModule } from '../tenants/index.js';
import { ScimDiscoveryController } from './discovery.controller.js';
import { ScimGroupsController } from './groups/scim-groups.controller.js';
import { ScimGroupsRepository, ScimGroupsService } from './groups/scim-groups.service.js';
import { ScimAuthenticator } from './scim-authenticator.js';
import { ScimTokensController, ScimTokensService } from './tokens/scim-tokens.controller.js';
import { ScimUserWrites } from './users/scim-user-writes.js';
import { ScimUsersController, ScimUsersService } from './users/scim-users.service.js';
import { ScimUsersRepository } from './users/scim-users.repository.js';
import { ScimUnsupportedController } from './unsupported.controller.js';
import { VisibleUsers } from './visible-users.js';
import { WelcomeMails } from './users/welcome-mails.js';
import { ScimPersonalData } from './scim-personal-data.js';

/** Provisioning of members and groups by identity providers: SCIM 2.0 (ADR 45). */
@Module({
  imports: [TenantsModule, AccountSecurityModule, SettingsModule],
  controllers: [
    ScimTokensController,
    ScimDiscoveryController,
    ScimUsersController,
    ScimGroupsController,
    ScimUnsupportedController,
  ],
  providers: [
    ScimPersonalData,
    ScimAuthenticator,
    ScimTokensService,
    VisibleUsers,
    ScimUsersRepository,
    ScimUserWrites,
    ScimUsersService,
    ScimGroupsRepository,
    ScimGroupsService,
    WelcomeMails,
  ],
})
export class ScimModule {}
