import { Param, type PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { MAX_UID } from '../../lib/contact-card/index.js';
import { type ApiError, defineError, ErrorKind, Errors } from '../../platform/http/errors.js';
import { documentsInput } from '../../platform/http/input-docs.js';
import { isStorable } from '../../platform/http/storable-text.js';
import { QUOTAS, formatLimit } from '../../platform/quotas/quotas.js';
import { exampleOf } from '../../platform/resources/example.js';
import { resource } from '../../platform/resources/resource.js';
import { SettingsErrors } from '../settings/index.js';
import { ContactResponse, DuplicateContactResponse } from './responses/contact.response.js';

export const CONTACTS = resource({
  tag: 'contacts',
  name: 'contact',
  path: 'contact/addressbooks',
  item: ContactResponse,
  notFound: 'The address book has no such contact.',
  revision: 'optional',
  idInPath: false,
});

/** The path of a contact, which clients name by its external_id. */
export const contactPath = (bookId: string, externalId: string): string =>
  `/apis/v1/contact/addressbooks/${bookId}/contacts/${encodeURIComponent(externalId)}`;

class ExternalIdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (value.length > MAX_UID || !isStorable(value))
      throw Errors.invalidId.with({ message: 'The external_id in the path is not valid.' });
    return value;
  }
}

const PIPE = new ExternalIdPipe();

/** Injects and documents the `external_id` of a path. */
export const ExternalId = (): ParameterDecorator => (target, key, index) => {
  Param('external_id', PIPE)(target, key, index);
  documentsInput({ errors: [Errors.invalidId] })(target, key, index);
  ApiParam({
    name: 'external_id',
    description: 'The external_id of the contact.',
    schema: { type: 'string', minLength: 1, maxLength: MAX_UID, examples: ['phone-17'] },
  })(target, key as string, Object.getOwnPropertyDescriptor(target, key as string)!);
};

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
    `An address book may have at most ${formatLimit(QUOTAS.item.contacts_of_addressbook)} contacts.`,
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
