import { Module, type OnModuleInit } from '@nestjs/common';
import { Deployment } from '../../platform/deployment/deployment.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';
import { AccountSecurityModule } from '../account-security/index.js';
import { TenantsModule } from '../tenants/index.js';
import { NotificationSettingsApi, WorkingHoursApi } from './preferences/notification-settings.js';
import { PreferencesController } from './preferences/preferences.controller.js';
import { PreferencesRepository, PreferencesService } from './preferences/preferences.service.js';
import { ProfileController } from './profile/profile.controller.js';
import { ProfileRepository } from './profile/profile.repository.js';
import { ProfileService } from './profile/profile.service.js';
import {
  SignaturesController,
  SignaturesRepository,
  SignaturesService,
} from './signatures/signatures.controller.js';
import { MAX_HTML } from './signatures/signatures.dto.js';
import { SettingsPersonalData } from './settings-personal-data.js';

@Module({
  imports: [TenantsModule, AccountSecurityModule],
  controllers: [ProfileController, SignaturesController, PreferencesController],
  providers: [
    SettingsPersonalData,
    ProfileRepository,
    ProfileService,
    SignaturesRepository,
    SignaturesService,
    PreferencesRepository,
    PreferencesService,
    NotificationSettingsApi,
    WorkingHoursApi,
  ],
  exports: [ProfileService, PreferencesService, NotificationSettingsApi, WorkingHoursApi],
})
export class SettingsModule implements OnModuleInit {
  constructor(private readonly deployment: Deployment) {}

  onModuleInit(): void {
    this.deployment.limit('signatures', QUOTAS.user.signatures);
    this.deployment.limit('signature_html_bytes', MAX_HTML);
  }
}
