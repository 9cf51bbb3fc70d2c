/** Properties of other programs that have a field in the card. Sources: exports of the programs named. */
import { dateOf, parseDate } from '../dates.js';
import type { Draft, Handler } from './draft.js';
import type { Property } from './properties.js';
import { addRelated } from './relations.js';
import { lineOf, splitEscaped } from '../values.js';

/** Instant messengers of Outlook, Evolution, KDE, Android and early versions of Apple's and Google's: property to service and scheme. */
const MESSENGERS: ReadonlyMap<string, { service: string | null; scheme: string | null }> = new Map([
  ['X-AIM', { service: 'AIM', scheme: 'aim' }],
  ['X-ICQ', { service: 'ICQ', scheme: 'icq' }],
  ['X-JABBER', { service: 'Jabber', scheme: 'xmpp' }],
  ['X-GOOGLE-TALK', { service: 'Google Talk', scheme: 'xmpp' }],
  ['X-MSN', { service: 'MSN', scheme: 'msnim' }],
  ['X-YAHOO', { service: 'Yahoo', scheme: 'ymsgr' }],
  ['X-SKYPE', { service: 'Skype', scheme: 'skype' }],
  ['X-SKYPE-USERNAME', { service: 'Skype', scheme: 'skype' }],
  ['X-GADUGADU', { service: 'Gadu-Gadu', scheme: null }],
  ['X-GROUPWISE', { service: 'GroupWise', scheme: null }],
  ['X-QQ', { service: 'QQ', scheme: null }],
  ['X-MATRIX', { service: 'Matrix', scheme: null }],
  ['X-TWITTER', { service: 'Twitter', scheme: null }],
  ['X-SIP', { service: 'SIP', scheme: 'sip' }],
  ['X-MS-IMADDRESS', { service: null, scheme: null }],
  ['X-KADDRESSBOOK-X-IMADDRESS', { service: null, scheme: null }],
  ['X-ZIMBRA-IMADDRESS1', { service: null, scheme: null }],
]);

/** Related persons of Outlook, Evolution and KDE. */
const RELATIONS: ReadonlyMap<string, string> = new Map([
  ['X-SPOUSE', 'spouse'],
  ['X-MS-SPOUSE', 'spouse'],
  ['X-EVOLUTION-SPOUSE', 'spouse'],
  ['X-KADDRESSBOOK-X-SPOUSENAME', 'spouse'],
  ['X-MANAGER', 'manager'],
  ['X-MANAGERSNAME', 'manager'],
  ['X-MS-MANAGER', 'manager'],
  ['X-EVOLUTION-MANAGER', 'manager'],
  ['X-KADDRESSBOOK-X-MANAGERSNAME', 'manager'],
  ['X-ASSISTANT', 'assistant'],
  ['X-MS-ASSISTANT', 'assistant'],
  ['X-EVOLUTION-ASSISTANT', 'assistant'],
  ['X-KADDRESSBOOK-X-ASSISTANTSNAME', 'assistant'],
  ['X-MS-CHILD', 'child'],
]);

/** Names of anniversaries in vCards of all versions. */
export const ANNIVERSARIES = [
  'ANNIVERSARY',
  'X-ANNIVERSARY',
  'X-MS-ANNIVERSARY',
  'X-EVOLUTION-ANNIVERSARY',
  'X-KADDRESSBOOK-X-ANNIVERSARY',
  'X-ZIMBRA-ANNIVERSARY',
];

/** Links of Evolution and KDE with their types. */
const LINKS: ReadonlyMap<string, string> = new Map([
  ['X-EVOLUTION-BLOG-URL', 'blog'],
  ['X-EVOLUTION-VIDEO-URL', 'video'],
  ['X-KADDRESSBOOK-BLOGFEED', 'blog'],
]);

/** The types of `vnd.android.cursor.item/relation` (ContactsContract.CommonDataKinds.Relation), by number; 0 is a label. */
const ANDROID_RELATIONS: readonly string[] = [
  '',
  'assistant',
  'brother',
  'child',
  'domestic partner',
  'father',
  'friend',
  'manager',
  'mother',
  'parent',
  'partner',
  'referred by',
  'relative',
  'sister',
  'spouse',
];

function readMessengerName(name: { service: string | null; scheme: string | null }): Handler {
  return (draft, property) => {
    const written = lineOf(property.value);
    const isUri = name.scheme !== null && written?.toLowerCase().startsWith(`${name.scheme}:`);
    const user = isUri ? written?.slice(`${name.scheme}:`.length) : written;
    if (!user) return false;
    const uri = name.scheme && !/\s/.test(user) ? `${name.scheme}:${user}` : null;
    return draft.add('profiles', draft.entry(property), { service: name.service, user, uri });
  };
}

function readRelation(type: string): Handler {
  // Outlook writes the name of the child or spouse after a parameter `N=`; the value is its full name.
  return ({ card }, { value }) => addRelated(card, type, lineOf(value), null);
}

function readLink(type: string): Handler {
  return (draft, property) => {
    const value = lineOf(property.value);
    if (!value) return false;
    const entry = draft.entry(property);
    entry.types = [type];
    return draft.add('urls', entry, { value });
  };
}

function readAnniversary(draft: Draft, property: Property): boolean {
  const date = dateOf(property);
  return date !== undefined && draft.addDate({ type: 'anniversary', ...date, label: null });
}

/** `vnd.android.cursor.item/relation;Jane;14;;` */
function readAndroidCustom(draft: Draft, { value }: Property): boolean {
  const { card } = draft;
  const [kind = '', text = null, type = null, label = null] = splitEscaped(value, ';').map(lineOf);
  if (!text) return false;
  switch (kind?.replace('vnd.android.cursor.item/', '')) {
    case 'nickname':
      card.nicknames.push(text);
      return true;
    case 'relation':
      return addRelated(card, ANDROID_RELATIONS[Number(type)] || label, text, null);
    case 'contact_event': {
      const date = parseDate(text);
      if (!date) return false;
      const known = ({ 1: 'anniversary', 3: 'birthday' } as const)[Number(type)];
      return draft.addDate({ type: known ?? 'other', ...date, label: known ? null : label });
    }
    default:
      return false;
  }
}

export const VENDOR_HANDLERS: [string, Handler][] = [
  ...[...MESSENGERS].map(([name, messenger]): [string, Handler] => [name, readMessengerName(messenger)]),
  ...[...RELATIONS].map(([name, type]): [string, Handler] => [name, readRelation(type)]),
  ...[...LINKS].map(([name, type]): [string, Handler] => [name, readLink(type)]),
  ...ANNIVERSARIES.map((name): [string, Handler] => [name, readAnniversary]),
  ['X-ANDROID-CUSTOM', readAndroidCustom],
];
