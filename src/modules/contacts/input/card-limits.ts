import { MAX_UID } from '../../../lib/contact-card/index.js';

/** Limits of the fields of a contact, for requests and imports: characters, unless another unit is named. */
export const CARD_LIMITS = {
  /** Texts without a limit of their own. */
  text: 1_000,
  /** Entries of lists of objects. */
  entries: 100,
  /** Entries of lists of texts. */
  texts: 200,
  /** The uids of the members of a group. */
  members: 2_000,
  uid: MAX_UID,
  /** Types of an entry. */
  types: 20,
  type: 64,
  /** Units of an organization. */
  units: 20,
  /** Bytes of notes and of the value of a property. */
  notes: 64 * 1024,
  /** An e-mail address or a URL. */
  address: 2_000,
  phone: 200,
  extension: 50,
  formatted: 4_000,
  profileUri: 2_000,
  /** The card of an agent is a URI. */
  relatedUri: 16_384,
  zone: 100,
  language: 100,
  /** Parameters of a property, and values of a parameter. */
  params: 50,
  /** Names of properties, of parameters and of groups. */
  name: 64,
} as const;
