import type { NotificationState, NotificationEntity } from '../notifications.schema.js';

/** The fields of a notification that its recipient changes. */
export type Lifecycle = Pick<
  NotificationEntity,
  'state' | 'previous_state' | 'seen_at' | 'read_at' | 'snooze_until'
>;

/** States that a client can request. `seen` marks the notification and keeps its state. */
export const REQUESTED_STATES = ['seen', 'read', 'unread', 'archived', 'snoozed', 'dismissed'] as const;
export type RequestedState = (typeof REQUESTED_STATES)[number];

export const INVALID_TRANSITION = Symbol('invalid transition');

/**
 * Applies a requested state. Unread and read change into each other and into snoozed, which returns as unread. Any state changes
 * into archived, which returns to the state before, and into dismissed, which is final.
 *
 * @param snoozeUntil for `snoozed`
 * @returns the same object when nothing changes
 */
export function transition(
  before: Lifecycle,
  requested: RequestedState,
  now: Date,
  snoozeUntil: Date | null = null,
): Lifecycle | typeof INVALID_TRANSITION {
  if (before.state === 'dismissed') return requested === 'dismissed' ? before : INVALID_TRANSITION;
  const seen = { ...before, seen_at: before.seen_at ?? now };
  if (requested === 'seen') return before.seen_at ? before : seen;
  if (requested === 'snoozed') return snoozed(before, seen, snoozeUntil);
  if (requested === before.state) return before;
  if (requested === 'dismissed') return ended(seen, 'dismissed', null);
  if (requested === 'archived')
    return ended(seen, 'archived', before.state === 'snoozed' ? 'unread' : before.state);
  if (!isReachable(before, requested)) return INVALID_TRANSITION;
  return { ...ended(seen, requested, null), read_at: requested === 'read' ? (before.read_at ?? now) : null };
}

function snoozed(
  before: Lifecycle,
  seen: Lifecycle,
  until: Date | null,
): Lifecycle | typeof INVALID_TRANSITION {
  if (before.state === 'archived') return INVALID_TRANSITION;
  if (before.state === 'snoozed' && before.snooze_until?.getTime() === until?.getTime()) return before;
  return { ...seen, state: 'snoozed', previous_state: null, snooze_until: until };
}

const ended = (row: Lifecycle, state: NotificationState, previous: NotificationState | null): Lifecycle => ({
  ...row,
  state,
  previous_state: previous,
  snooze_until: null,
});

/** Whether a notification in another state can become unread or read. */
function isReachable({ state, previous_state }: Lifecycle, requested: 'read' | 'unread'): boolean {
  if (state === 'archived') return previous_state === requested;
  if (state === 'snoozed') return requested === 'unread';
  return true;
}
