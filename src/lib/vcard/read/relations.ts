/** Accounts of messengers and social networks, and related persons. */
import { type Card, uidOf } from '../card.js';
import type { Draft } from './draft.js';
import { percentDecoded } from '../../text/index.js';
import {
  agentUri,
  builtInLabel,
  cleanLine,
  cleanText,
  distinct,
  isCard,
  lineOf,
  typeToken,
  unescapeText,
} from '../values.js';
import type { Property } from './properties.js';

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** IMPP (RFC 6350, 6.4.3) with the service as Apple, Google or RFC 9554 name it. */
export function readMessenger(draft: Draft, property: Property): boolean {
  const { params } = property;
  const value = lineOf(property.value);
  if (!value) return false;
  const named = cleanLine(params.first('X-USER') ?? params.first('USERNAME'));
  const uri = SCHEME.test(value) ? value : null;
  const service = cleanLine(params.first('SERVICE-TYPE') ?? params.first('X-SERVICE-TYPE'));
  return draft.add('profiles', draft.entry(property), { service, user: named ?? (uri ? null : value), uri });
}

const PLACES = new Set(['home', 'work', 'other', 'pref']);

/** Apple: `X-SOCIALPROFILE;TYPE=twitter;X-USER=ann:https://...`, `x-apple:ann` without a URI. RFC 9554: SOCIALPROFILE. */
export function readSocialProfile(draft: Draft, property: Property): boolean {
  const { params } = property;
  const value = lineOf(property.value);
  if (!value) return false;
  const exact = cleanLine(params.first('SERVICE-TYPE') ?? params.first('X-SERVICE-TYPE'));
  const isApple = property.name === 'X-SOCIALPROFILE';
  const types = (params.get('TYPE') ?? []).flatMap((type) => type.split(','));
  const service =
    exact ?? (isApple ? cleanLine(types.find((type) => !PLACES.has(type.toLowerCase()))) : null);
  const appleUser = /^x-apple:(.*)$/i.exec(value)?.[1];
  const isText = appleUser !== undefined || params.first('VALUE')?.toLowerCase() === 'text';
  const uri = !isText && SCHEME.test(value) ? value : null;
  const named = cleanLine(params.first('X-USER') ?? params.first('USERNAME'));
  const user = named ?? (uri ? null : cleanLine(appleUser === undefined ? value : percentDecoded(appleUser)));
  if (!user && !uri) return false;
  const ignored = isApple && service ? [typeToken(service)] : [];
  return draft.add('profiles', draft.entry(property, ignored), { service, user, uri });
}

export function addRelated(
  { related }: Card,
  type: string | null,
  name: string | null,
  uri: string | null,
): boolean {
  if (!name && !uri) return false;
  related.push({ type: type?.toLowerCase() || null, name, uri });
  return true;
}

/** RELATED (RFC 6350, 6.6.6) and Apple's X-ABRELATEDNAMES, whose label is the type. One entry for each type. */
export function readRelated(draft: Draft, property: Property): boolean {
  const { params } = property;
  const value = lineOf(property.value);
  if (!value) return false;
  const label = draft.label(property);
  const labelType = label === null ? undefined : (builtInLabel(label) ?? label.toLowerCase());
  const types = distinct([...params.types(), labelType]).filter(
    (type) => type !== 'pref' && type !== 'other',
  );
  const isUri =
    property.name === 'RELATED' && SCHEME.test(value) && params.first('VALUE')?.toLowerCase() !== 'text';
  const name = isUri ? cleanLine(params.first('X-NAME')) : value;
  for (const type of types.length > 0 ? types : [null]) {
    addRelated(draft.card, type, name, isUri ? uidOf(value) : null);
  }
  return true;
}

/** AGENT of vCard 2.1 and 3.0: a nested card, the same as an escaped text, or a URI. */
export function readAgent({ card }: Draft, { value, nested, params }: Property): boolean {
  const text = cleanText(nested ?? unescapeText(value)) ?? '';
  if (isCard(text)) {
    const name = /^FN[^:\n]*:(.*)$/im.exec(text)?.[1];
    return addRelated(card, 'agent', lineOf(name), agentUri(text));
  }
  const isUri = SCHEME.test(text) && params.first('VALUE')?.toLowerCase() !== 'text';
  return addRelated(card, 'agent', isUri ? null : lineOf(text), isUri ? uidOf(text) : null);
}
