import type { CardFields, CardPhone } from '../vcard/index.js';

/** A telephone number as a contact stores it. */
export interface ContactPhone extends CardPhone {
  /** E.164 with its plus sign; null for a value that is no possible number. */
  e164: string | null;
}

/**
 * The fields of a contact that users write, in the spelling of the API: the JSON that is stored. Every member is present:
 * `null` and `[]` mean "none". `full_name` is null only in an empty card.
 */
export interface ContactCard extends Omit<CardFields, 'uid' | 'phones'> {
  phones: ContactPhone[];
}

/** Names of the fields, in the order of responses. */
export const CARD_FIELDS = [
  'kind',
  'full_name',
  'name',
  'nicknames',
  'organization',
  'job_title',
  'emails',
  'phones',
  'addresses',
  'urls',
  'profiles',
  'dates',
  'notes',
  'categories',
  'related',
  'members',
  'time_zone',
  'language',
  'custom',
] as const satisfies readonly (keyof ContactCard)[];

export type CardField = (typeof CARD_FIELDS)[number];

/** Fields to write: missing fields stay, null and empty lists clear a field. */
export type CardPatch = { [Field in CardField]?: unknown };

/** Characters of an external_id and of a uid. */
export const MAX_UID = 255;
