import { Module, type OnModuleInit } from '@nestjs/common';
import { Deployment } from '../../platform/deployment/deployment.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';
import { MailProxyModule } from '../mail/index.js';
import { PresenceModule } from '../presence/index.js';
import { SettingsModule } from '../settings/index.js';
import { TenantsModule } from '../tenants/index.js';
import { AddressbookAccess, DefaultBook } from './addressbook-access.js';
import { AddressbooksController, UserAddressbooksController } from './books/addressbooks.controller.js';
import { AddressbooksOfMembers, ContactsPersonalData } from './contacts-of-members.js';
import { AddressbooksRepository } from './books/addressbooks.repository.js';
import { AddressbooksService } from './books/addressbooks.service.js';
import { ExtractedController, ExtractedService } from './collected/extracted.controller.js';
import { ExtractedAddresses, ExtractedRepository } from './collected/extracted-addresses.js';
import { AddressCollector, CollectedBook } from './collected/collected-book.js';
import { ReceivedRepository } from './collected/received.repository.js';
import { ContactsApi, ContactSearchRepository } from './search/contacts.api.js';
import { MAX_CARD } from './model/contact-values.js';
import { ContactFormatsService, ContactListsService } from './items/contact-lists.service.js';
import { ContactsController } from './items/contacts.controller.js';
import { ContactsRepository } from './contacts.repository.js';
import { ContactsService } from './items/contacts.service.js';
import { ContactPhotos, ContactPhotosRepository, MAX_PHOTO_BYTES } from './contact-photos.js';
import { DuplicatesController } from './duplicates/duplicates.controller.js';
import { DuplicatesRepository, DuplicatesService } from './duplicates/duplicates.service.js';
import { FormerContacts } from './former-contacts.repository.js';
import { GlobalBook } from './global-book.js';
import { ContactPhotosController, SelfPhotoController } from './photos/contact-photos.controller.js';
import { ContactPhotosService } from './photos/contact-photos.service.js';
import { ContactMovesController, ContactMovesService } from './moves/contact-moves.controller.js';
import { MemberDirectoryService, SelfCardService, SelfService } from './people/people.service.js';
import { PeopleController, SelfCardController } from './people/people.controller.js';
import { ContactFeedRepository } from './sync/contact-feed.repository.js';
import { ContactSyncController } from './sync/contact-sync.controller.js';
import { ContactSyncService } from './sync/contact-sync.service.js';
import { ContactPublicEvents } from './items/contact-public-events.js';
import { ExportRepository, ExportService } from './phone/export.service.js';
import { ImportBatch } from './phone/import-batch.js';
import { ImportPhotos } from './phone/import-photos.js';
import { ImportUndo } from './phone/import-undo.js';
import { ImportsRepository } from './phone/imports.repository.js';
import { ImportsService } from './phone/imports.service.js';
import { PhoneController } from './phone/phone.controller.js';
import { ContactCards, ContactCardsRepository } from './phone/cards/contact-cards.js';
import { CardChanges } from './sync/card-changes.js';

@Module({
  imports: [SettingsModule, TenantsModule, MailProxyModule, PresenceModule],
  // Fixed paths come before those with an external_id.
  controllers: [
    UserAddressbooksController,
    AddressbooksController,
    ContactSyncController,
    ContactMovesController,
    ContactPhotosController,
    SelfPhotoController,
    ContactsController,
    PeopleController,
    PhoneController,
    SelfCardController,
    ExtractedController,
    DuplicatesController,
  ],
  providers: [
    ContactsPersonalData,
    AddressbooksRepository,
    AddressbooksOfMembers,
    AddressbooksService,
    ContactsRepository,
    ContactsService,
    ContactListsService,
    ContactFeedRepository,
    ContactSyncService,
    ContactMovesService,
    ExtractedRepository,
    ExtractedService,
    AddressCollector,
    CollectedBook,
    ExtractedAddresses,
    ReceivedRepository,
    DuplicatesRepository,
    FormerContacts,
    DuplicatesService,
    ContactSearchRepository,
    ContactsApi,
    SelfService,
    MemberDirectoryService,
    AddressbookAccess,
    GlobalBook,
    DefaultBook,
    ImportsRepository,
    ImportBatch,
    ImportPhotos,
    ContactPhotos,
    ContactPhotosRepository,
    ContactPhotosService,
    ImportsService,
    ImportUndo,
    ExportRepository,
    ExportService,
    SelfCardService,
    ContactFormatsService,
    ContactCardsRepository,
    ContactCards,
    CardChanges,
    ContactPublicEvents,
  ],
  exports: [ContactsApi, AddressbooksService, ContactCards, CardChanges],
})
export class ContactsModule implements OnModuleInit {
  constructor(private readonly deployment: Deployment) {}

  onModuleInit(): void {
    this.deployment.limit('addressbooks', QUOTAS.user.addressbooks);
    this.deployment.limit('contacts_per_addressbook', QUOTAS.item.contacts_of_addressbook);
    this.deployment.limit('contact_card_characters', MAX_CARD);
    this.deployment.limit('contact_photo_bytes', MAX_PHOTO_BYTES);
  }
}
