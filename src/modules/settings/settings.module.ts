import { Module } from '@nestjs/common';
import { HtmlModule } from '../../platform/html/html.module.js';
import { TenantsModule } from '../tenants/index.js';
import { PreferencesController } from './preferences.controller.js';
import { PreferencesRepository } from './preferences.repository.js';
import { PreferencesService } from './preferences.service.js';
import { ProfileController } from './profile.controller.js';
import { ProfileRepository } from './profile.repository.js';
import { ProfileService } from './profile.service.js';
import { SignaturesController } from './signatures.controller.js';
import { SignaturesRepository } from './signatures.repository.js';
import { SignaturesService } from './signatures.service.js';

@Module({
  imports: [TenantsModule, HtmlModule],
  controllers: [ProfileController, SignaturesController, PreferencesController],
  providers: [
    ProfileRepository,
    ProfileService,
    SignaturesRepository,
    SignaturesService,
    PreferencesRepository,
    PreferencesService,
  ],
})
export class SettingsModule {}
