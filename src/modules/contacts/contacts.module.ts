import { Module, type OnModuleInit } from '@nestjs/common';
import { Deployment } from '../../platform/deployment/deployment.js';
import { SettingsModule } from '../settings/index.js';
import { TenantsModule } from '../tenants/index.js';
import { AddressbookAccess } from './addressbook-access.js';
import { AddressbooksController, UserAddressbooksController } from './books/addressbooks.controller.js';
import { AddressbooksRepository } from './books/addressbooks.repository.js';
import { AddressbooksService, MAX_BOOKS } from './books/addressbooks.service.js';
import { MAX_CARD } from './contact-cards.js';
import { ContactListsService } from './contact-lists.service.js';
import { ContactsController } from './contacts.controller.js';
import { ContactsRepository } from './contacts.repository.js';
import { ContactsService, MAX_CONTACTS } from './contacts.service.js';
import { GlobalBook } from './global-book.js';

@Module({
  imports: [SettingsModule, TenantsModule],
  controllers: [UserAddressbooksController, AddressbooksController, ContactsController],
  providers: [
    AddressbooksRepository,
    AddressbooksService,
    ContactsRepository,
    ContactsService,
    ContactListsService,
    AddressbookAccess,
    GlobalBook,
  ],
})
export class ContactsModule implements OnModuleInit {
  constructor(private readonly deployment: Deployment) {}

  onModuleInit(): void {
    this.deployment.limit('addressbooks', MAX_BOOKS);
    this.deployment.limit('contacts_per_addressbook', MAX_CONTACTS);
    this.deployment.limit('contact_card_characters', MAX_CARD);
  }
}
