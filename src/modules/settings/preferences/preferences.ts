import type { OpenAPIObject } from '@nestjs/swagger';
import { isTimeZone } from '../../../lib/recurrence/index.js';
import { shortenText } from '../../../lib/text/index.js';
import type { FieldProblem } from '../../../platform/http/errors.js';
import {
  NOTIFICATION_PREFERENCES,
  REQUIRED_PREFERENCES,
} from '../../../platform/notifications/notification-type.js';
import { isLocale } from '../settings.dto.js';

/** JSON Schema with the types of the documentation library. */
type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
export type SchemaObject = Exclude<Schemas[string], { $ref: string }>;

/** One preference: default, validation and schema. */
export interface Leaf {
  readonly leaf: true;
  readonly fallback: unknown;
  /** JSON Schema for the API description. */
  readonly schema: SchemaObject;
  /** Returns the error of a value, or undefined. */
  problem(value: unknown): string | undefined;
}

/** Preferences by name, possibly nested. */
export interface Spec {
  readonly [key: string]: Leaf | Spec;
}

export type Stored = Record<string, unknown>;

const isLeaf = (node: Leaf | Spec): node is Leaf => node.leaf === true;
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One of these values; the first is the default. */
export function oneOf(...values: [string, ...string[]]): Leaf {
  return {
    leaf: true,
    fallback: values[0],
    schema: { type: 'string', enum: values, example: values[0] },
    problem: (value) =>
      values.includes(value as string) ? undefined : `must be one of ${values.join(', ')}`,
  };
}

export function flag(fallback: boolean): Leaf {
  return {
    leaf: true,
    fallback,
    schema: { type: 'boolean', example: fallback },
    problem: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  };
}

/** Null by default. */
export function choice(schema: SchemaObject, problem: (value: unknown) => string | undefined): Leaf {
  return { leaf: true, fallback: null, schema: { ...schema, nullable: true }, problem };
}

/** Returns all preferences: stored values, and defaults of the others. Omits stored keys that the spec no longer has. */
export function viewOf(spec: Spec, stored: Stored): Record<string, unknown> {
  const members = Object.entries(spec).map(([key, node]) => {
    const value = Object.hasOwn(stored, key) ? stored[key] : undefined;
    if (isLeaf(node)) return [key, value === undefined ? node.fallback : value];
    return [key, viewOf(node, isObject(value) ? value : {})];
  });
  return Object.fromEntries(members) as Record<string, unknown>;
}

/**
 * Merges a patch into the stored preferences like RFC 7396: omitted members stay, `null` resets to the default, lists are
 * replaced.
 * @returns the preferences to store, valid only without problems
 */
export function patchPreferences(
  spec: Spec,
  stored: Stored,
  patch: Record<string, unknown>,
  path = '',
): { stored: Stored; problems: FieldProblem[] } {
  const next: Stored = { ...stored };
  const problems: FieldProblem[] = [];
  for (const [key, value] of Object.entries(patch)) {
    const field = `${path}${key}`;
    const node = Object.hasOwn(spec, key) ? (spec[key] as Leaf | Spec) : undefined;
    if (node === undefined) problems.push(problem(field, 'unknown_key', 'is not a preference'));
    else if (value === null) delete next[key];
    else if (isLeaf(node)) {
      const error = node.problem(value);
      if (error !== undefined) problems.push(problem(field, 'invalid_value', error));
      next[key] = value;
    } else if (!isObject(value)) problems.push(problem(field, 'is_object', 'must be an object'));
    else {
      const before = isObject(next[key]) ? next[key] : {};
      const inner = patchPreferences(node, before, value, `${field}.`);
      problems.push(...inner.problems);
      next[key] = inner.stored;
    }
  }
  return { stored: next, problems };
}

function problem(path: string, code: string, text: string): FieldProblem {
  const field = shortenText(path, 100);
  return { field, code, message: `${field} ${text}` };
}

/**
 * JSON Schema of all preferences; `partial`: of a patch, in which every member is optional and nullable.
 * @param reference returns the reference to the schema of a group that has one of its own
 */
export function schemaOf(
  spec: Spec,
  partial: boolean,
  reference: (group: Spec) => { $ref: string } | undefined,
): SchemaObject {
  const properties = Object.entries(spec).map(([key, node]) => {
    if (isLeaf(node)) return [key, partial ? orNull(node.schema) : node.schema] as const;
    return [key, reference(node) ?? schemaOf(node, partial, reference)] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(!partial && { required: Object.keys(spec) }),
    additionalProperties: false,
  };
}

/** In a patch, null resets a member to its default. */
const orNull = (schema: SchemaObject): SchemaObject => ({
  ...schema,
  nullable: true,
  ...(schema.enum && { enum: [...(schema.enum as unknown[]), null] }),
});

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
  /** The times are in the time zone of the member. Free/busy suggests meetings within them. */
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

const REV = { type: 'integer', minimum: 0, example: 3, description: 'Increases with each change.' } as const;
const NAMES: Record<PreferenceKind, string> = {
  general: 'GeneralPreferences',
  notifications: 'NotificationPreferences',
};

/** Examples of changes: a few members, or the complete preferences as read. */
export const UPDATE_EXAMPLES: Record<PreferenceKind, Record<string, { value: unknown }>> = {
  general: {
    some: { value: { theme: 'dark', language: 'de', reduce_motion: null } },
    read: { value: { preferences: viewOf(PREFERENCES.general, {}) } },
  },
  notifications: {
    some: { value: { types: { 'chat.message': { email: false } }, digest: 'daily' } },
    read: { value: { preferences: viewOf(PREFERENCES.notifications, {}) } },
  },
};

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Reference to the schema of a response. */
export const preferencesEnvelope = (kind: PreferenceKind) => ref(`${NAMES[kind]}Envelope`);

/** Reference to the schema of a change. */
export const updatePreferences = (kind: PreferenceKind) => ref(`Update${NAMES[kind]}`);

const patchName = (name: string) => `${name}Patch`;

function describe(spec: Spec, partial: boolean): SchemaObject {
  return schemaOf(spec, partial, (group) => {
    const name = NAMED_GROUPS.get(group);
    return name === undefined ? undefined : ref(partial ? patchName(name) : name);
  });
}

/** Schemas derived from the preferences. Named, so that generated clients have named types. */
export const PREFERENCE_SCHEMAS: Record<string, SchemaObject> = Object.assign(
  {},
  ...(Object.keys(NAMES) as PreferenceKind[]).map((kind) => {
    const [name, patch] = [NAMES[kind], describe(PREFERENCES[kind], true)];
    return {
      [name]: describe(PREFERENCES[kind], false),
      [patchName(name)]: patch,
      [`${name}Envelope`]: {
        type: 'object',
        required: ['preferences', 'rev'],
        properties: { preferences: ref(name), rev: REV },
      },
      [`Update${name}`]: {
        type: 'object',
        properties: { ...patch.properties, preferences: ref(patchName(name)), rev: REV },
        additionalProperties: false,
      },
    };
  }),
  ...[...NAMED_GROUPS].map(([group, name]) => ({
    [name]: describe(group, false),
    [patchName(name)]: describe(group, true),
  })),
) as Record<string, SchemaObject>;
