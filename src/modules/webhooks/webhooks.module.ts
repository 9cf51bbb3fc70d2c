import { Module } from '@nestjs/common';
import { TenantsModule } from '../tenants/index.js';
import {
  DeliveriesController,
  DeliveriesRepository,
  DeliveriesService,
} from './deliveries/deliveries.controller.js';
import { WebhookDisabling } from './sending/disabling.js';
import { WebhookDispatcher, WebhookFanOut } from './sending/dispatcher.js';
import { QueuesRepository } from './sending/queues.repository.js';
import { WebhookAccess, WebhooksRepository } from './webhooks.repository.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhookNotifications } from './webhooks.notifications.js';
import { WebhooksOfMembers, WebhooksPersonalData } from './webhooks-of-members.js';
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
