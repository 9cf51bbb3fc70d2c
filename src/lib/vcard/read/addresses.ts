import { ADDRESS_PARTS, type CardAddress, type CardEntry } from '../card.js';
import type { Draft } from './draft.js';
import type { Property } from './properties.js';
import { cleanLine, cleanText, distinct, lineOf, splitEscaped, unescapeText } from '../text.js';

type AddressFields = Omit<CardAddress, keyof CardEntry>;

const NO_ADDRESS: AddressFields = {
  po_box: null,
  extended: null,
  street: null,
  locality: null,
  region: null,
  postal_code: null,
  country: null,
  country_code: null,
  formatted: null,
};

/** A component may be a list, except in vCard 2.1; street and formatted address may have several lines. */
export function readAddress(draft: Draft, property: Property): boolean {
  const parts = splitEscaped(property.value, ';');
  const fields: AddressFields = { ...NO_ADDRESS };
  for (const [at, part] of ADDRESS_PARTS.entries()) fields[part] = component(parts[at], part, draft.isOld);
  fields.formatted = cleanText(unescapeText(property.params.first('LABEL') ?? ''));
  fields.country_code = countryCode(property.params.first('CC'));
  return draft.addAddress(property, Object.assign(draft.entry(property), fields));
}

function component(part: string | undefined, name: keyof AddressFields, isOld: boolean): string | null {
  if (!part) return null;
  const texts = isOld ? [part] : splitEscaped(part, ',');
  if (name !== 'street' && name !== 'extended') return cleanLine(distinct(texts.map(lineOf)).join(', '));
  return cleanText(distinct(texts.map((text) => cleanText(unescapeText(text)))).join(', '));
}

/** The address as text of vCard 2.1 and 3.0: it belongs to the ADR of its group, or else to one with the same types. */
export function readAddressLabel(draft: Draft, property: Property): boolean {
  const formatted = cleanText(unescapeText(property.value));
  const entry = draft.entry(property);
  const address = draft.addressOf(property.group) ?? draft.nextUnlabelled(entry);
  if (address) address.formatted = formatted;
  else draft.addAddress(property, Object.assign(entry, { ...NO_ADDRESS, formatted }));
  return true;
}

/** Apple: `item1.X-ABADR:de` has the country of `item1.ADR`. */
export function readCountryCode(draft: Draft, property: Property): boolean {
  const address = draft.addressOf(property.group);
  const code = countryCode(lineOf(property.value) ?? undefined);
  if (!address || !code) return false;
  address.country_code = code;
  return true;
}

function countryCode(text: string | undefined): string | null {
  return text !== undefined && /^[a-z]{2}$/i.test(text) ? text.toUpperCase() : null;
}
