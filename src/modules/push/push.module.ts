import { Module } from '@nestjs/common';
import { IdentityModule } from '../identity/index.js';
import { NotificationsModule } from '../notifications/index.js';
import { PresenceModule } from '../presence/index.js';
import { PushController, PushService } from './push.controller.js';
import { PushKeys } from './push-keys.js';
import { PushPersonalData } from './push-personal-data.js';
import { PushSender } from './push-sender.js';
import { PushSessions } from './push-sessions.js';
import { PushSubscriptionsRepository } from './push-subscriptions.repository.js';
import { PushContents } from './sending/push-contents.js';
import { PushDispatcher, PushNotices } from './sending/push-dispatcher.js';
import { PushQueue } from './sending/push-queue.js';

/** Notifications for browsers and phones by Web Push (ADR 70). */
@Module({
  imports: [IdentityModule, NotificationsModule, PresenceModule],
  controllers: [PushController],
  providers: [
    PushKeys,
    PushSubscriptionsRepository,
    PushSender,
    PushService,
    PushPersonalData,
    PushQueue,
    PushContents,
    PushDispatcher,
    PushNotices,
    PushSessions,
  ],
  exports: [PushKeys],
})
export class PushModule {}
