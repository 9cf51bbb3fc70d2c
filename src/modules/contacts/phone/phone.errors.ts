import { defineError } from '../../../platform/http/api-error.js';

/** Errors of the import and export of phones. */
export const PhoneErrors = {
  noCard: defineError(422, 'no_card', 'The file contains no vCard.'),
  tooManyCards: defineError(422, 'too_many_contacts', 'An import may have at most 10,000 contacts.'),
  importNotFound: defineError(404, 'not_found', 'You have no such import.'),
} as const;
