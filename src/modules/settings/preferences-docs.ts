import { schemaOf, type SchemaObject, viewOf } from './preference-spec.js';
import { type PreferenceKind, PREFERENCES } from './preferences.js';

const REV = { type: 'integer', minimum: 0, example: 3, description: 'Rises with each change.' } as const;
const NAMES: Record<PreferenceKind, string> = {
  general: 'GeneralPreferences',
  notifications: 'NotificationPreferences',
};

/** Examples of changes: a few members, and the whole as it was read; never both. */
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

/** Where the schema of an answer stands in the description. */
export const preferencesEnvelope = (kind: PreferenceKind) => ref(`${NAMES[kind]}Envelope`);

/** Where the schema of a change stands in the description. */
export const updatePreferences = (kind: PreferenceKind) => ref(`Update${NAMES[kind]}`);

/** Schemas made from the preferences there are; named, so that the types of generated clients have names. */
export const PREFERENCE_SCHEMAS: Record<string, SchemaObject> = Object.assign(
  {},
  ...(Object.keys(NAMES) as PreferenceKind[]).map((kind) => {
    const [name, patch] = [NAMES[kind], schemaOf(PREFERENCES[kind], true)];
    return {
      [name]: schemaOf(PREFERENCES[kind], false),
      [`${name}Patch`]: patch,
      [`${name}Envelope`]: {
        type: 'object',
        required: ['preferences', 'rev'],
        properties: { preferences: ref(name), rev: REV },
      },
      [`Update${name}`]: {
        type: 'object',
        properties: { ...patch.properties, preferences: ref(`${name}Patch`), rev: REV },
        additionalProperties: false,
      },
    };
  }),
) as Record<string, SchemaObject>;
