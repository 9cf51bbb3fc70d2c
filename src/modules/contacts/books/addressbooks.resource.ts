import { resource } from '../../../platform/resources/resource.js';
import { AddressbookResponse } from './addressbook.response.js';

export const ADDRESSBOOKS = resource({
  tag: 'contacts',
  name: 'addressbook',
  path: 'contact/addressbooks',
  item: AddressbookResponse,
  notFound: 'You have no such address book.',
  revision: 'optional',
});
