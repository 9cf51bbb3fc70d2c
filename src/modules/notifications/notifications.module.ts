import { Module } from '@nestjs/common';
import { PresenceModule } from '../presence/index.js';
import { SettingsModule } from '../settings/index.js';
import { NotificationMail, NotificationMails, UserActivity } from './mails/notification-mails.js';
import {
  UnsubscribeController,
  UnsubscribeLinks,
  UnsubscribeService,
} from './mails/unsubscribe.controller.js';
import { Announcements } from './inbox/announcements.js';
import { NotificationHousekeeping } from './inbox/notification-housekeeping.js';
import { NotificationPresenter } from './notification.presenter.js';
import { NotificationRelevance } from './inbox/notification-relevance.js';
import { NotificationSockets } from './notification-sockets.js';
import { NotificationWriter } from './notification-writer.js';
import { NotificationsApi } from './notifications.api.js';
import { NotificationsController, NotificationsService } from './notifications.controller.js';
import { NotificationsRepository } from './notifications.repository.js';
import { NotificationsPersonalData } from './notifications-personal-data.js';

@Module({
  imports: [SettingsModule, PresenceModule],
  controllers: [NotificationsController, UnsubscribeController],
  providers: [
    NotificationsPersonalData,
    NotificationsRepository,
    NotificationPresenter,
    NotificationRelevance,
    Announcements,
    NotificationSockets,
    NotificationsApi,
    NotificationsService,
    NotificationWriter,
    NotificationHousekeeping,
    UserActivity,
    UnsubscribeLinks,
    UnsubscribeService,
    NotificationMail,
    NotificationMails,
  ],
  exports: [NotificationsApi],
})
export class NotificationsModule {}
