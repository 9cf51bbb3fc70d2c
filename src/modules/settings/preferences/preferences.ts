import {
  NOTIFICATION_PREFERENCES,
  REQUIRED_PREFERENCES,
} from '../../../platform/notifications/notification-preferences.js';
import { choice, flag, type Leaf, oneOf, type Spec } from './preference-spec.js';
import { isTimeZone } from '../../../lib/recurrence/index.js';
import { isLocale } from '../locale-values.js';

const timeZone = (): Leaf =>
  choice({ type: 'string', example: 'Europe/Berlin' }, (value) =>
    isTimeZone(value) ? undefined : 'must be a time zone such as Europe/Berlin',
  );

const channels = (email: Leaf): Spec => ({ email, push: flag(true), in_app: flag(true) });
const CHANNELS = channels(flag(true));

/** Security warnings are always sent by e-mail, so that an attacker cannot disable them. */
const alwaysOn: Leaf = {
  leaf: true,
  fallback: true,
  schema: { type: 'boolean', enum: [true], example: true },
  problem: (value) => (value === true ? undefined : 'cannot be disabled'),
};

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const MAX_RANGES = 14;

const ranges: Leaf = {
  leaf: true,
  fallback: [],
  schema: {
    type: 'array',
    maxItems: MAX_RANGES,
    example: [{ from: '22:00', to: '07:00', days: ['mon', 'tue'] }],
    items: {
      type: 'object',
      required: ['from', 'to'],
      additionalProperties: false,
      properties: {
        from: { type: 'string', pattern: TIME.source, example: '22:00' },
        to: { type: 'string', pattern: TIME.source, example: '07:00' },
        days: { type: 'array', items: { type: 'string', enum: DAYS }, example: ['mon', 'tue'] },
      },
    },
  },
  problem: (value) =>
    areRanges(value) ? undefined : 'must be a list of {from, to, days?} with times such as 22:00',
};

function areRanges(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MAX_RANGES && value.every(isRange);
}

function isRange(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { from, to, days, ...rest } = value as Record<string, unknown>;
  const isTime = (time: unknown) => typeof time === 'string' && TIME.test(time);
  const areDays =
    days === undefined ||
    (Array.isArray(days) &&
      new Set(days).size === days.length &&
      days.every((day) => DAYS.includes(day as string)));
  return isTime(from) && isTime(to) && from !== to && areDays && Object.keys(rest).length === 0;
}

const workingHours: Leaf = {
  leaf: true,
  fallback: { from: '09:00', to: '17:00', days: DAYS.slice(0, 5) },
  schema: {
    type: 'object',
    required: ['from', 'to', 'days'],
    additionalProperties: false,
    example: { from: '08:00', to: '16:30', days: ['mon', 'tue', 'wed', 'thu'] },
    properties: {
      from: { type: 'string', pattern: TIME.source, example: '08:00' },
      to: { type: 'string', pattern: TIME.source, description: 'After `from`.', example: '16:30' },
      days: { type: 'array', items: { type: 'string', enum: DAYS }, example: ['mon', 'tue'] },
    },
  },
  problem: (value) =>
    isWorkingTime(value) ? undefined : 'must be {from, to, days} with times such as 08:00, to after from',
};

function isWorkingTime(value: unknown): boolean {
  if (!isRange(value)) return false;
  const { from, to, days } = value as { from: string; to: string; days?: string[] };
  return from < to && days !== undefined;
}

/** Appearance and language of the user interface, and working hours. */
const GENERAL: Spec = {
  theme: oneOf('system', 'light', 'dark'),
  density: oneOf('comfortable', 'compact'),
  /** Null: the value of the profile. */
  language: choice({ type: 'string', example: 'de' }, (value) =>
    isLocale(value) ? undefined : 'must be a language tag such as de or pt-BR',
  ),
  /** Null: the value of the profile. */
  timezone: timeZone(),
  week_start: oneOf('monday', 'sunday', 'saturday'),
  time_format: oneOf('24h', '12h'),
  date_format: oneOf('YYYY-MM-DD', 'DD/MM/YYYY', 'MM/DD/YYYY', 'DD.MM.YYYY'),
  reduce_motion: flag(false),
  keyboard_shortcuts: flag(true),
  /** In the time zone of the member. Free/busy suggests meetings within them. */
  working_hours: workingHours,
};

const TYPES: Spec = Object.fromEntries(
  NOTIFICATION_PREFERENCES.map((type) => [
    type,
    REQUIRED_PREFERENCES.has(type) ? channels(alwaysOn) : CHANNELS,
  ]),
);

/** `tz` null: the time zone of the profile. */
const QUIET_HOURS: Spec = { tz: timeZone(), ranges };

/** The first one is the default. */
export const PUSH_CONTENTS = ['text', 'title', 'nothing'] as const;

/** Notification channels and times. Quiet hours delay e-mail and push only. */
const NOTIFICATIONS: Spec = {
  channels: CHANNELS,
  types: TYPES,
  quiet_hours: QUIET_HOURS,
  digest: oneOf('off', 'daily', 'weekly'),
  /** What push messages contain: the sentence of the notification, the title of its object only, or neither. */
  push_content: oneOf(...PUSH_CONTENTS),
};

/** Groups of preferences with a schema of their own. */
export const NAMED_GROUPS: ReadonlyMap<Spec, string> = new Map([
  [CHANNELS, 'NotificationChannels'],
  [TYPES, 'NotificationTypes'],
  [QUIET_HOURS, 'QuietHours'],
]);

export const PREFERENCES = { general: GENERAL, notifications: NOTIFICATIONS } as const;
export type PreferenceKind = keyof typeof PREFERENCES;
