import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import { AllReadEnvelope, NotificationEnvelope, NotificationListEnvelope } from './notification.response.js';
import {
  ListNotifications,
  MarkNotificationsRead,
  MoveSnooze,
  ReadAll,
  SetLifecycle,
} from './notifications.dto.js';
import { NotificationErrors } from './notifications.errors.js';
import { NotificationsService } from './notifications.service.js';

@ApiTags('notifications')
@Controller('notifications')
export class NotificationsController {
  constructor(private readonly notifications: NotificationsService) {}

  @Endpoint('GET', {
    id: 'listNotifications',
    summary: 'List your notifications',
    description:
      'The newest first. Titles follow your current rights: a notification about an object that you can no longer read contains neither its title nor its path. The preferences of `PUT /settings/notifications` apply when a notification is created.',
    response: [NotificationListEnvelope, 'A page of notifications.'],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListNotifications): Promise<NotificationListEnvelope> {
    return this.notifications.list(ctx, query);
  }

  @Endpoint('PUT read_all', {
    id: 'readAllNotifications',
    summary: 'Mark all notifications as read',
    description:
      'With `before`, later notifications stay unread, so that a notification that has just arrived is not marked before you have seen it.',
    response: [AllReadEnvelope, 'The number of notifications that were unread.'],
    example: { before: 42 },
    optionalBody: true,
  })
  readAll(@Ctx() ctx: RequestContext, @Body() body: ReadAll): Promise<AllReadEnvelope> {
    return this.notifications.readAll(ctx, body);
  }

  @Endpoint('PUT :id/read', {
    id: 'markNotification',
    summary: 'Mark a notification as read or unread',
    description: 'Without a body: as read. A repeated request changes nothing.',
    response: [NotificationEnvelope, 'The notification.'],
    errors: [NotificationErrors.notFound, NotificationErrors.invalidTransition],
    optionalBody: true,
  })
  mark(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(MarkNotificationsRead) body: Checked<MarkNotificationsRead>,
  ): Promise<NotificationEnvelope> {
    return this.notifications.mark(ctx, id, body);
  }

  @Endpoint('PUT :id/lifecycle', {
    id: 'setNotificationLifecycle',
    summary: 'Change the state of a notification',
    description:
      '`unread` and `read` change into each other and into `snoozed`, which returns as `unread`. Every state changes into `archived`, which returns to the state before, and into `dismissed`, which is final: the notification leaves all lists. `seen` keeps the state. A repeated request changes nothing.',
    response: [NotificationEnvelope, 'The notification.'],
    errors: [NotificationErrors.notFound, NotificationErrors.invalidTransition],
  })
  setLifecycle(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(SetLifecycle) body: Checked<SetLifecycle>,
  ): Promise<NotificationEnvelope> {
    return this.notifications.setLifecycle(ctx, id, body);
  }

  @Endpoint('PATCH :id/lifecycle', {
    id: 'moveNotificationSnooze',
    summary: 'Change the end of a snooze',
    description: 'Only for a snoozed notification. At the new time it returns as `unread`.',
    response: [NotificationEnvelope, 'The notification.'],
    errors: [NotificationErrors.notFound, NotificationErrors.invalidTransition],
  })
  moveSnooze(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(MoveSnooze) body: Checked<MoveSnooze>,
  ): Promise<NotificationEnvelope> {
    return this.notifications.moveSnooze(ctx, id, body);
  }
}
