import type { Urgency } from '../push-sender.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How messages of a type are sent (RFC 8030, sections 5.2 and 5.3). */
export interface PushTraits {
  urgency: Urgency;
  /** Seconds for which the message is of use. */
  ttl: number;
  /** Seconds between examinations of a message that rings: it is withdrawn soon after it was answered on another device. */
  examined?: number;
}

/** By type of notification, else by the part before the dot, else those of all others. */
const TRAITS: Readonly<Record<string, PushTraits>> = {
  'call.started': { urgency: 'high', ttl: 45, examined: 3 },
  'guest.waiting': { urgency: 'high', ttl: 10 * MINUTE },
  'chat.mention': { urgency: 'high', ttl: DAY },
  'calendar.reminder': { urgency: 'high', ttl: HOUR },
  security: { urgency: 'high', ttl: DAY },
  form: { urgency: 'low', ttl: DAY },
  report: { urgency: 'low', ttl: DAY },
  recording: { urgency: 'low', ttl: DAY },
};
const OTHERS: PushTraits = { urgency: 'normal', ttl: DAY };

/** Seconds for which the push service keeps a withdrawal for a device that is offline. */
export const WITHDRAWAL_TTL = DAY;
/** A withdrawal has no content that a user waits for. */
export const WITHDRAWAL_URGENCY: Urgency = 'normal';

/** Seconds after which a message is examined once: its notification may have been read while it was sent. */
export const FIRST_EXAMINATION = 30;

/** @param type key of a type of notification */
export const traitsOf = (type: string): PushTraits =>
  TRAITS[type] ?? TRAITS[type.split('.', 1)[0] as string] ?? OTHERS;

/** Seconds between the attempts of a message; the last one also for all further ones, until the message is of no use. */
const DELAYS = [15, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR] as const;
/** Part of a delay by which it varies, so that push services do not get all repetitions at once. */
const JITTER = 0.1;

/**
 * Seconds until the next attempt.
 * @param attempts that have failed, at least 1
 * @param asked seconds that the push service asks for
 */
export function retryAfter(
  attempts: number,
  asked: number | null,
  random: () => number = Math.random,
): number {
  const delay = DELAYS[Math.min(attempts, DELAYS.length) - 1] as number;
  return Math.max(asked ?? 0, delay * (1 - JITTER + 2 * JITTER * random()));
}
