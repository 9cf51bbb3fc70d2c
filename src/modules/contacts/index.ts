export { AddressbooksService, type HeadedBook } from './books/addressbooks.service.js';
export { CreateAddressbook, UpdateAddressbook } from './books/addressbooks.dto.js';
export { ContactErrors } from './contacts.resource.js';
export type { AccessedBook } from './addressbook-access.js';
export { ContactCards, type CardText, type TagCheck } from './phone/cards/contact-cards.js';
export { ContactsApi, type FoundContact } from './search/contacts.api.js';
export { ContactsModule } from './contacts.module.js';
export { CardChanges } from './sync/card-changes.js';
