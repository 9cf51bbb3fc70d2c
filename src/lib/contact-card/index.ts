export {
  CARD_FIELDS,
  type CardField,
  type CardPatch,
  type ContactCard,
  type ContactPhone,
  MAX_UID,
} from './card.js';
export { joinChanges, valueKeys } from './changes.js';
export { canJoin, joinCards } from './join.js';
export { differences, emptyCard, namesExtension, parsedPhone, patchCard } from './normalize.js';
export { isPhoneCountry } from './phone-numbers.js';
export {
  categoryKey,
  contactWords,
  digitsKey,
  departmentKey,
  emailKey,
  identityKeys,
  phoneKey,
  prefixRange,
  queryTerms,
  sortKey,
} from './words.js';
