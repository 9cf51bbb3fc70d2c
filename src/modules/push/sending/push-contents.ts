import { Injectable } from '@nestjs/common';
import { MAX_MESSAGE_BYTES } from '../../../lib/web-push/index.js';
import type { NotificationPreference } from '../../../platform/notifications/notification-type.js';
import { SessionsApi } from '../../identity/index.js';
import { type CurrentNotificationView, NotificationsApi } from '../../notifications/index.js';
import { PresenceApi } from '../../presence/index.js';
import type { PushSubscription } from '../push.schema.js';
import type { PushMessage } from '../push-sender.js';
import { PushSubscriptionsRepository } from '../push-subscriptions.repository.js';
import { type ClaimedDelivery, DAY, traitsOf, WITHDRAWAL_URGENCY } from './push-queue.js';

/** Names the work in logs. */
const REQUEST_ID = 'push';

/** What happens with a delivery now. */
export type PushDecision =
  | { action: 'send'; subscription: PushSubscription; message: PushMessage }
  /** The notification, or the message, is of no use for the device. */
  | { action: 'drop' }
  /** The session of the device has ended. */
  | { action: 'unsubscribe' }
  /** `lifetime`: the seconds of use begin again when the wait ends. */
  | { action: 'wait'; seconds: number; lifetime?: number }
  /** A message that was sent stays, and is examined again after `seconds`; null: not again. */
  | { action: 'keep'; seconds: number | null }
  /** A message that was sent is withdrawn from the devices of the user. */
  | { action: 'withdraw' }
  /** The subscription was deleted, and its deliveries with it. */
  | { action: 'none' };

/** Seconds until a device with an open socket is looked at again; then each time after as long as the message has waited. */
const FIRST_LOOK = 10;
/** Seconds by which the last look is later than the end of the sockets. */
const LOOK_MARGIN = 1;

const DROP: PushDecision = { action: 'drop' };

/** What the decisions about some deliveries read together. */
interface Known {
  /** The key is the id. */
  subscriptions: ReadonlyMap<string, PushSubscription>;
  /** Ids of sessions that have not ended, and of those with an open socket. */
  live: ReadonlySet<string>;
  connected: ReadonlySet<string>;
  views: ReadonlyMap<ClaimedDelivery, CurrentNotificationView>;
}

/** Decides about messages, and composes them with what their recipients may read and want to get now. */
@Injectable()
export class PushContents {
  constructor(
    private readonly subscriptions: PushSubscriptionsRepository,
    private readonly notifications: NotificationsApi,
    private readonly presence: PresenceApi,
    private readonly sessions: SessionsApi,
  ) {}

  /** @param deliveries of one workspace, for which each table is read once */
  async decide(
    tenantId: string,
    deliveries: readonly ClaimedDelivery[],
  ): Promise<Map<ClaimedDelivery, PushDecision>> {
    const known = await this.read(tenantId, deliveries);
    return new Map(
      deliveries.map((each) => [
        each,
        each.state === 'sent' ? examined(each, known) : this.next(each, known),
      ]),
    );
  }

  private async read(tenantId: string, deliveries: readonly ClaimedDelivery[]): Promise<Known> {
    const pending = deliveries.filter(({ state }) => state === 'pending');
    const found = await this.subscriptions.findMany(
      tenantId,
      pending.map(({ user_id: userId, subscription_id: id }) => ({ userId, id })),
    );
    const signedIn = found.filter(({ session_id }) => session_id !== null);
    const users = [...new Set(signedIn.map(({ user_id }) => user_id))];
    const live = users.length === 0 ? [] : await this.sessions.liveOf(users);
    const shown = deliveries.filter(({ kind }) => kind === 'shown');
    const views = await this.notifications.readCurrent(
      tenantId,
      shown.map(({ user_id: userId, notification_id: id }) => ({ userId, id })),
      REQUEST_ID,
    );
    return {
      subscriptions: new Map(found.map((each) => [each.id, each])),
      live: new Set(live.map(({ id }) => id)),
      connected: await this.presence.findConnected(
        { tenantId },
        users,
        signedIn.flatMap(({ session_id }) => session_id ?? []),
      ),
      views: new Map(
        shown.flatMap((each, n) => {
          const view = views[n];
          return view ? [[each, view] as const] : [];
        }),
      ),
    };
  }

  private next(delivery: ClaimedDelivery, known: Known): PushDecision {
    const subscription = known.subscriptions.get(delivery.subscription_id);
    if (!subscription) return { action: 'none' };
    const ttl = secondsUntil(delivery.expires_at);
    if (ttl <= 0) return DROP;
    const { session_id } = subscription;
    if (session_id !== null && !known.live.has(session_id)) return { action: 'unsubscribe' };
    if (delivery.kind === 'dismissed')
      return subscription.can_dismiss
        ? { action: 'send', subscription, message: withdrawalOf(delivery, ttl) }
        : DROP;
    const view = known.views.get(delivery);
    if (!view) return DROP;
    const { settings, notification } = view;
    if (!settings.uses('push', notification.preference as NotificationPreference)) return DROP;
    if (session_id !== null && known.connected.has(session_id)) return this.whileConnected(delivery, ttl);
    const quiet = this.notifications.quietSeconds(settings);
    if (quiet > 0) return duringQuiet(delivery, ttl, quiet);
    return { action: 'send', subscription, message: messageOf(delivery, view, ttl) };
  }

  /**
   * A socket that counts as open may be dead, or have closed a moment ago. The device gets the message when it no longer counts, and none
   * when it still counts after the time in which every dead one ends.
   */
  private whileConnected({ type }: ClaimedDelivery, ttl: number): PushDecision {
    const { ttl: lifetime, examined } = traitsOf(type);
    const age = Math.max(0, lifetime - ttl);
    if (examined !== undefined) return { action: 'wait', seconds: examined };
    const left = this.presence.staleSeconds - age;
    return left <= 0
      ? DROP
      : { action: 'wait', seconds: Math.min(Math.max(age, FIRST_LOOK), left + LOOK_MARGIN) };
  }
}

/** A message that is of use for a day waits for the end of the quiet hours also when they are longer; others would come too late. */
function duringQuiet({ type }: ClaimedDelivery, ttl: number, quiet: number): PushDecision {
  if (quiet < ttl) return { action: 'wait', seconds: quiet };
  const { ttl: lifetime } = traitsOf(type);
  return lifetime >= DAY && quiet !== Infinity ? { action: 'wait', seconds: quiet, lifetime } : DROP;
}

/** Withdraws a message that a device shows, if its notification is no longer of use. */
function examined(delivery: ClaimedDelivery, { views }: Known): PushDecision {
  const { examined: seconds } = traitsOf(delivery.type);
  const isOver = seconds !== undefined && delivery.expires_at <= new Date();
  return !isOver && views.has(delivery)
    ? { action: 'keep', seconds: seconds ?? null }
    : { action: 'withdraw' };
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
