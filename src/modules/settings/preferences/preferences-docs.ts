import { schemaOf, type SchemaObject, type Spec, viewOf } from './preference-spec.js';
import { NAMED_GROUPS, type PreferenceKind, PREFERENCES } from './preferences.js';

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
