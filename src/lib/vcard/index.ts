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
  deriveName,
  isAnonymous,
  isDerivedName,
  newCard,
  VcardError,
  uidOf,
  uidToUri,
} from './card.js';
export { checkDate } from './dates.js';
export { isPropertyName, MEDIA_FAMILY, NAME, SINGLE_PROPERTIES, withStoredSpelling } from './values.js';
export { toJsContact } from './write/js-contact.js';
export { type CardResult, countCards, readCard, readCards } from './read/cards.js';
export { withoutStale } from './companions.js';
export { secondValues } from './write/lines.js';
export { CARD_VERSIONS, type CardVersion, writeCard } from './write/cards.js';
