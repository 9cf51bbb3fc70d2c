import { resource } from '../../platform/resources/resource.js';
import { ContactResponse } from './contact.response.js';

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
