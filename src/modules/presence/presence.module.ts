import { Module } from '@nestjs/common';
import { TenantsModule } from '../tenants/index.js';
import { PresenceApi } from './presence.api.js';
import { PresenceController, PresenceService } from './presence.controller.js';
import { PresenceDevices } from './devices/presence-devices.js';
import { PresenceEvents } from './presence-events.js';
import { PresenceOptions, PresenceWrites } from './presence-writes.js';
import { PresenceRepository } from './presence.repository.js';
import { PresencePersonalData } from './presence-personal-data.js';

@Module({
  imports: [TenantsModule],
  controllers: [PresenceController],
  providers: [
    PresencePersonalData,
    PresenceOptions,
    PresenceRepository,
    PresenceWrites,
    PresenceEvents,
    PresenceDevices,
    PresenceService,
    PresenceApi,
  ],
  exports: [PresenceApi],
})
export class PresenceModule {}
