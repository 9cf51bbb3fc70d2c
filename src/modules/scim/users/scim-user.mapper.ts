import { isDeepStrictEqual } from 'node:util';
import { zoneOfName } from '../../../lib/icalendar/index.js';
import { isTimeZone } from '../../../lib/recurrence/index.js';
import { CORE, ENTERPRISE_USER, type Json } from '../../../lib/scim/index.js';
import { cutText, filledText, toLine } from '../../../lib/text/index.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import {
  acceptedLanguage,
  acceptedTags,
  type Language,
  languageOf,
} from '../../../platform/languages/languages.js';
import { isLocale, PROFILE_LIMITS } from '../../settings/index.js';
import { versionOf } from '../model/scim-query.js';
import type { ScimUserRow } from './scim-users.repository.js';

/** Attributes that are stored in the membership and the profile. Other attributes are stored unchanged. */
const MAPPED: ReadonlySet<string> = new Set([
  'externalId',
  'userName',
  'displayName',
  'title',
  'active',
  'schemas',
]);
/** Sub-attributes of `name` that are fields of the profile. */
const NAMES = { givenName: 'given_name', familyName: 'family_name' } as const;

/** Directories have longer texts than profiles, and several lines. The profile has the beginning, as one line. */
const shortened = (field: keyof typeof PROFILE_LIMITS, text: string): string =>
  filledText(cutText(toLine(text), PROFILE_LIMITS[field]));

/** The text that the client wrote, if the profile still has its form; otherwise that of the profile. */
const writtenText = (field: keyof typeof PROFILE_LIMITS, written: unknown, own: string | null): string =>
  typeof written === 'string' && shortened(field, written) === (own ?? '') ? written : (own ?? '');

/** @returns the resource of a member, with its version @param base address of the SCIM interface */
export function userResource(row: ScimUserRow, base: string): Json {
  const { attributes, user_id: id } = row;
  const { displayName: displayed, title: titled, ...stored } = attributes ?? {};
  const { givenName, familyName, ...named } = (stored['name'] ?? {}) as Json;
  const given = writtenText('given_name', givenName, row.given_name);
  const family = writtenText('family_name', familyName, row.family_name);
  const name = { ...named, ...(given && { givenName: given }), ...(family && { familyName: family }) };
  const title = writtenText('title', titled, row.title);
  const resource: Json = {
    schemas: [`${CORE}:User`, ...(stored[ENTERPRISE_USER] ? [ENTERPRISE_USER] : [])],
    id,
    ...(row.external_id !== null && { externalId: row.external_id }),
    userName: row.email,
    displayName: writtenText('display_name', displayed, row.display_name),
    ...(title && { title }),
    emails: [{ value: row.email, type: 'work', primary: true }],
    ...stored,
    ...employmentOf(stored, base),
    ...(Object.keys(name).length > 0 && { name }),
    active: row.status === 'active',
    groups: row.groups.map((group) => ({ ...group, $ref: `${base}/Groups/${group.value}`, type: 'direct' })),
  };
  const lastModified = row.updated_at && row.updated_at > row.created_at ? row.updated_at : row.created_at;
  const times = { created: row.created_at.toISOString(), lastModified: lastModified.toISOString() };
  const location = `${base}/Users/${id}`;
  return { ...resource, meta: { resourceType: 'User', ...times, location, version: versionOf(resource) } };
}

/** The enterprise attributes, with the address of the manager, who may be no user yet. */
function employmentOf({ [ENTERPRISE_USER]: given }: Json, base: string): Json {
  const employment = given as (Json & { manager?: { value?: string } }) | undefined;
  const { value } = employment?.manager ?? {};
  if (value === undefined || !isUuid(value)) return {};
  const manager = { ...employment?.manager, $ref: `${base}/Users/${value}` };
  return { [ENTERPRISE_USER]: { ...employment, manager } };
}

/** The values of a member in a resource. */
export interface UserValues {
  email: string;
  externalId: string | null;
  /** Undefined means no change. */
  active: boolean | undefined;
  profile: { display_name: string; given_name: string; family_name: string; title: string };
  /** The other attributes. */
  attributes: Json;
}

/** @param resource from `readResource` */
export function valuesOf(resource: Json): UserValues {
  const name = (resource['name'] ?? {}) as Record<string, string | undefined>;
  const email = String(resource['userName']).trim();
  const { givenName = '', familyName = '', formatted = '' } = name;
  const { displayName = '', title = '' } = resource as Record<string, string | undefined>;
  const fullName = [givenName, familyName].filter(Boolean).join(' ');
  const shown = [displayName, formatted, fullName].find((text) => shortened('display_name', text) !== '');
  const profile = {
    display_name: shortened('display_name', shown ?? email.slice(0, email.lastIndexOf('@'))),
    given_name: shortened('given_name', givenName),
    family_name: shortened('family_name', familyName),
    title: shortened('title', title),
  };
  const attributes = Object.fromEntries(Object.entries(resource).filter(([key]) => !MAPPED.has(key)));
  if (displayName !== '' && displayName === shown && displayName !== profile.display_name)
    attributes['displayName'] = displayName;
  if (title !== profile.title) attributes['title'] = title;
  const otherNames = Object.entries(name).filter(
    ([key, value]) => !(key in NAMES) || value !== profile[NAMES[key as keyof typeof NAMES]],
  );
  if (otherNames.length > 0) attributes['name'] = Object.fromEntries(otherNames);
  else delete attributes['name'];
  if (isDefault(attributes['emails'], email)) delete attributes['emails'];
  return {
    email,
    externalId: (resource['externalId'] as string | undefined) ?? null,
    active: resource['active'] as boolean | undefined,
    profile,
    attributes,
  };
}

/** Removes `emails` from the result of a PATCH if it still has the default value, so that it follows `userName`. */
export function withDefaultEmails(before: Json, after: Json): Json {
  const { emails, ...rest } = after;
  const isUntouched =
    isDeepStrictEqual(emails, before['emails']) && isDefault(emails, String(before['userName']));
  return isUntouched ? rest : after;
}

/** Whether the list contains only the sign-in address. */
function isDefault(emails: unknown, email: string): boolean {
  if (!Array.isArray(emails) || emails.length !== 1) return false;
  const [{ value, type = 'work', display }] = emails as [Json];
  return display === undefined && type === 'work' && String(value).toLowerCase() === email.toLowerCase();
}

const textOf = (attributes: Json, name: string): string => {
  const value = attributes[name];
  return typeof value === 'string' ? value : '';
};

/** Some clients write `en_US`. */
const tagOf = (attributes: Json): string => textOf(attributes, 'locale').replaceAll('_', '-');

/**
 * The language of mails to a user: the best of `preferredLanguage`, which has the format of Accept-Language (RFC 7643,
 * section 4.1.1), or else that of `locale`.
 * @returns null when there are texts in none of these languages
 */
export const languageOfUser = (attributes: Json): Language | null =>
  acceptedLanguage(textOf(attributes, 'preferredLanguage')) ?? languageOf(tagOf(attributes));

interface LocaleFields {
  locale?: string;
  timezone?: string;
}

/**
 * The fields of the profile for changed attributes. Unchanged attributes leave the choice of the user as it is; invalid values
 * are stored as attributes only.
 * @param before the attributes that the client wrote before
 */
export function localeFields(attributes: Json, before: Json): LocaleFields {
  const isChanged = (name: string) => attributes[name] !== undefined && attributes[name] !== before[name];
  // A locale with a region also has the formats of dates and numbers.
  const tags = [tagOf(attributes), ...acceptedTags(textOf(attributes, 'preferredLanguage'))];
  const language = languageOfUser(attributes);
  const locale = tags.find((tag) => isLocale(tag) && languageOf(tag) === language);
  const named = textOf(attributes, 'timezone');
  // Directories of Microsoft have the names of Windows, such as `W. Europe Standard Time`.
  const timezone = isTimeZone(named) ? named : zoneOfName(named);
  return {
    ...((isChanged('preferredLanguage') || isChanged('locale')) && locale !== undefined && { locale }),
    ...(isChanged('timezone') && timezone !== null && { timezone }),
  };
}
