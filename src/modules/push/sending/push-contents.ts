import { Injectable } from '@nestjs/common';
import { MAX_MESSAGE_BYTES } from '../../../lib/web-push/index.js';
import type { NotificationPreference } from '../../../platform/notifications/notification-preferences.js';
import { SessionsApi } from '../../identity/index.js';
import { type CurrentNotificationView, NotificationsApi } from '../../notifications/index.js';
import { PresenceApi } from '../../presence/index.js';
import type { PushSubscription } from '../push.entity.js';
import type { PushMessage } from '../push-sender.js';
import type { ClaimedDelivery } from './push-queue.js';
import { traitsOf, WITHDRAWAL_URGENCY } from './push-traits.js';

/** Names the work in logs. */
const REQUEST_ID = 'push';

/** What happens with a delivery now. */
export type PushDecision =
  | { action: 'send'; message: PushMessage }
  /** The notification, or the message, is of no use for the device. */
  | { action: 'drop' }
  /** The session of the device has ended. */
  | { action: 'unsubscribe' }
  | { action: 'wait'; seconds: number };

const DROP: PushDecision = { action: 'drop' };

/** Decides about messages, and composes them with what their recipients may read and want to get now. */
@Injectable()
export class PushContents {
  constructor(
    private readonly notifications: NotificationsApi,
    private readonly presence: PresenceApi,
    private readonly sessions: SessionsApi,
  ) {}

  async decide(delivery: ClaimedDelivery, subscription: PushSubscription): Promise<PushDecision> {
    const ttl = secondsUntil(delivery.expires_at);
    if (ttl <= 0) return DROP;
    if (!(await this.isSignedIn(subscription))) return { action: 'unsubscribe' };
    if (delivery.kind === 'dismissed')
      return subscription.canDismiss ? { action: 'send', message: withdrawalOf(delivery, ttl) } : DROP;
    const view = await this.current(delivery);
    if (!view) return DROP;
    const { settings, notification } = view;
    if (!settings.uses('push', notification.preference as NotificationPreference)) return DROP;
    const { sessionId } = subscription;
    if (sessionId !== null && (await this.presence.hasDevice(subscription, sessionId))) return DROP;
    const quietUntil = this.notifications.quietUntil(settings);
    if (quietUntil && quietUntil >= delivery.expires_at) return DROP;
    if (quietUntil) return { action: 'wait', seconds: secondsUntil(quietUntil) };
    return { action: 'send', message: messageOf(delivery, view, ttl) };
  }

  /** The notification of a message, if it is still of use. */
  async current(delivery: ClaimedDelivery): Promise<CurrentNotificationView | null> {
    const { tenant_id: tenantId, user_id: userId, notification_id: id } = delivery;
    return this.notifications.current({ tenantId, userId }, id, REQUEST_ID);
  }

  private async isSignedIn({ userId, sessionId }: PushSubscription): Promise<boolean> {
    return sessionId === null || (await this.sessions.liveOf([userId])).some(({ id }) => id === sessionId);
  }
}

const secondsUntil = (time: Date): number => (time.getTime() - Date.now()) / 1_000;

/** A UUID without hyphens has the 32 characters that a topic may have (RFC 8030, section 5.4). */
const topicOf = ({ notification_id: id }: ClaimedDelivery): string => id.replaceAll('-', '');

const factsOf = ({ tenant_id, notification_id: id, type }: ClaimedDelivery, event: string) => ({
  event,
  tenant_id,
  id,
  type,
});

function withdrawalOf(delivery: ClaimedDelivery, ttl: number): PushMessage {
  const body = JSON.stringify(factsOf(delivery, 'dismissed'));
  return { body, ttl, urgency: WITHDRAWAL_URGENCY, topic: topicOf(delivery) };
}

function messageOf(
  delivery: ClaimedDelivery,
  { notification, settings }: CurrentNotificationView,
  ttl: number,
): PushMessage {
  const { pushContent } = settings;
  const facts = { ...factsOf(delivery, 'notification'), count: notification.count };
  const title = notification.subject?.title ?? null;
  const contents = {
    nothing: {},
    title: { title, url_path: notification.url_path },
    text: { title, text: notification.title, url_path: notification.url_path },
  }[pushContent];
  const body = JSON.stringify({ ...facts, ...contents });
  const isLong = Buffer.byteLength(body) > MAX_MESSAGE_BYTES;
  const { urgency } = traitsOf(delivery.type);
  return { body: isLong ? JSON.stringify(facts) : body, ttl, urgency, topic: topicOf(delivery) };
}
