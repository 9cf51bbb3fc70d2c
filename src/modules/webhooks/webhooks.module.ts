import { Module } from '@nestjs/common';
import { TenantsModule } from '../tenants/index.js';
import { DeliveriesController } from './deliveries/deliveries.controller.js';
import { DeliveriesRepository } from './deliveries/deliveries.repository.js';
import { DeliveriesService } from './deliveries/deliveries.service.js';
import { WebhookDisabling } from './sending/disabling.js';
import { WebhookDispatcher } from './sending/dispatcher.js';
import { WebhookFanOut } from './sending/fan-out.js';
import { QueuesRepository } from './sending/queues.repository.js';
import { WebhookAccess } from './webhook-access.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhookNotifications } from './webhooks.notifications.js';
import { WebhooksOfMembers } from './webhooks-of-members.js';
import { WebhooksPersonalData } from './webhooks-personal-data.js';
import { WebhooksRepository } from './webhooks.repository.js';
import { WebhooksService } from './webhooks.service.js';

/** Events for programs of others, by HTTP (ADR 66). */
@Module({
  imports: [TenantsModule],
  controllers: [DeliveriesController, WebhooksController],
  providers: [
    WebhooksRepository,
    WebhookAccess,
    WebhookSecrets,
    WebhookSender,
    WebhooksService,
    WebhookNotifications,
    WebhooksOfMembers,
    WebhooksPersonalData,
    DeliveriesRepository,
    DeliveriesService,
    QueuesRepository,
    WebhookDisabling,
    WebhookDispatcher,
    WebhookFanOut,
  ],
})
export class WebhooksModule {}
