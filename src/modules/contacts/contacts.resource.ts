import { Param, type PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Errors } from '../../platform/http/errors.js';
import { documentsInput } from '../../platform/http/input-docs.js';
import { isStorable } from '../../platform/http/storable-text.js';
import { MAX_UID } from '../../lib/contact-card/index.js';
import { resource } from '../../platform/resources/resource.js';
import { ContactResponse } from './responses/contact.response.js';

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
