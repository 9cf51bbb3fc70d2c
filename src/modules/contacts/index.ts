export { ContactsApi, type FoundContact } from './search/contacts.api.js';
export { ContactsModule } from './contacts.module.js';
