import { Module } from '@nestjs/common';
import { CalendarModule } from '../calendar/index.js';
import { ChatModule } from '../chat/index.js';
import { TasksModule } from '../tasks/index.js';
import { TenantsModule } from '../tenants/index.js';
import { IncomingWebhooksController, IncomingWebhooksService } from './incoming-webhooks.controller.js';
import { IncomingWebhooksOfMembers, IncomingWebhooksPersonalData } from './incoming-webhooks-of-members.js';
import { IncomingWebhooksRepository } from './incoming-webhooks.repository.js';
import { HookTargets } from './receiving/hook-targets.js';
import { HooksController, HooksService } from './receiving/hooks.controller.js';

/** Secret addresses at which programs of others post messages, and create tasks and events. */
@Module({
  imports: [TenantsModule, ChatModule, TasksModule, CalendarModule],
  controllers: [IncomingWebhooksController, HooksController],
  providers: [
    IncomingWebhooksRepository,
    IncomingWebhooksService,
    IncomingWebhooksOfMembers,
    IncomingWebhooksPersonalData,
    HookTargets,
    HooksService,
  ],
})
export class IncomingWebhooksModule {}
