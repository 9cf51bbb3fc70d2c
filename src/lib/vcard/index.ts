export {
  type Card,
  CARD_DATE_TYPES,
  CARD_KINDS,
  type CardAddress,
  type CardDate,
  type CardDateType,
  type CardEntry,
  type CardFields,
  type CardKind,
  type CardName,
  type CardOrganization,
  type CardPhone,
  type CardPhoto,
  type CardProfile,
  type CardProperty,
  type CardRelated,
  type CardValue,
  isAnonymous,
  newCard,
} from './card.js';
export { VcardError } from './errors.js';
export { withStoredPositions } from './geo.js';
export { uidOf, uidToUri } from './uids.js';
export { toJsContact } from './write/js-contact.js';
export { type CardResult, countCards, readCard, readCards } from './read/cards.js';
export { withoutStale } from './stale.js';
export { SINGLE_PROPERTIES } from './preference.js';
export { secondValues } from './write/second-values.js';
export { CARD_VERSIONS, type CardVersion, writeCard } from './write/cards.js';
