export { ContactsApi, type FoundContact } from './contacts.api.js';
export { ContactsModule } from './contacts.module.js';
