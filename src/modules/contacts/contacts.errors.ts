import { type ApiError, defineError, ErrorKind } from '../../platform/http/api-error.js';
import { Errors } from '../../platform/http/errors.js';
import { exampleOf } from '../../platform/resources/example.js';
import { QUOTAS, shown } from '../../platform/quotas/quotas.js';
import { SettingsErrors } from '../settings/index.js';
import { ContactResponse, DuplicateContactResponse } from './responses/contact.response.js';

const duplicate = (code: string, message: string): ErrorKind =>
  defineError(409, code, message, {
    example: { contact: exampleOf(ContactResponse) },
    type: DuplicateContactResponse,
  });

/** Errors of address books and contacts. */
export const ContactErrors = {
  bookNotFound: defineError(404, 'not_found', 'You have no such address book.'),
  unknownUser: defineError(
    422,
    'unknown_user',
    'A user in the list is not an active member of the workspace.',
  ),
  defaultBook: defineError(409, 'default_addressbook', 'The default address book cannot be deleted.'),
  tooManyBooks: defineError(
    422,
    'too_many_addressbooks',
    `A user may have at most ${QUOTAS.user.addressbooks} address books.`,
  ),
  bookFull: defineError(
    422,
    'addressbook_full',
    `An address book may have at most ${shown(QUOTAS.item.contacts_of_addressbook)} contacts.`,
  ),
  mergeNotFound: defineError(404, 'not_found', 'You have no such merge of contacts.'),
  mergeBlocked: defineError(
    409,
    'merge_blocked',
    'The merged contact has changed, or another contact has the external_id or uid of a deleted one.',
  ),
  fieldLocked: SettingsErrors.fieldLocked,
  noPhoto: defineError(404, 'not_found', 'The contact has no photo.'),
  duplicateExternalId: duplicate(
    'duplicate_external_id',
    'The address book has a contact with this external_id.',
  ),
  duplicateUid: duplicate('duplicate_uid', 'The address book has a contact with this uid.'),
  duplicateContact: duplicate(
    'duplicate_contact',
    'The address book has a contact with the same e-mail address or telephone number.',
  ),
} as const;

/** Errors of single changes of a synchronisation; they occur in results only. */
export const ChangeErrors = {
  repeated: new ErrorKind(422, 'repeated_change', 'The request has another change of this contact.'),
  deleted: new ErrorKind(409, 'deleted', 'The contact was deleted.'),
  responseFull: new ErrorKind(413, 'response_full', 'The results reach 4 MiB. Send this change again.'),
} as const;

/** 422 `validation_failed` of one field. */
export const fieldError = (field: string, code: string, message: string): ApiError =>
  Errors.validationFailed.with({
    details: [{ field, code, message: field ? `${field} ${message}` : message }],
  });
