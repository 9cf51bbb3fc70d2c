import { Module } from '@nestjs/common';
import { AccountSecurityModule } from '../account-security/index.js';
import { SettingsModule } from '../settings/index.js';
import { TenantsModule } from '../tenants/index.js';
import { AccountPagesController } from './account-pages.controller.js';
import { DomainJoin } from './domain-join.js';
import { InvitationPages } from './invitation-pages.js';
import { PasskeyPages } from './passkey-pages.js';
import { RecoveryPages } from './recovery-pages.js';

/** Pages of links: invitations, forgotten passwords, new addresses, passkeys. */
@Module({
  imports: [TenantsModule, AccountSecurityModule, SettingsModule],
  controllers: [AccountPagesController],
  providers: [InvitationPages, RecoveryPages, PasskeyPages, DomainJoin],
})
export class AccountPagesModule {}
