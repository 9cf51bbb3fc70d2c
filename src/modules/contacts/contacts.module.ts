import { Module, type OnModuleInit } from '@nestjs/common';
import { Deployment } from '../../platform/deployment/deployment.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';
import { MailProxyModule } from '../mail/index.js';
import { PresenceModule } from '../presence/index.js';
import { SettingsModule } from '../settings/index.js';
import { TenantsModule } from '../tenants/index.js';
import { AddressbookAccess } from './addressbook-access.js';
import { AddressbooksController, UserAddressbooksController } from './books/addressbooks.controller.js';
import { AddressbooksOfMembers } from './books/addressbooks-of-members.js';
import { AddressbooksRepository } from './books/addressbooks.repository.js';
import { AddressbooksService } from './books/addressbooks.service.js';
import { ExtractedController } from './collected/extracted.controller.js';
import { ExtractedRepository } from './collected/extracted.repository.js';
import { AddressCollector } from './collected/address-collector.js';
import { CollectedBook } from './collected/collected-book.js';
import { ExtractedAddresses } from './collected/extracted-addresses.js';
import { ReceivedRepository } from './collected/received.repository.js';
import { ExtractedService } from './collected/extracted.service.js';
import { ContactSearchRepository } from './search/contact-search.repository.js';
import { MAX_CARD } from './model/contact-values.js';
import { ContactListsService } from './items/contact-lists.service.js';
import { ContactsApi } from './search/contacts.api.js';
import { ContactsController } from './items/contacts.controller.js';
import { ContactsRepository } from './contacts.repository.js';
import { ContactsService } from './items/contacts.service.js';
import { DefaultBook } from './default-book.js';
import { ContactPhotos, MAX_PHOTO_BYTES } from './contact-photos.js';
import { ContactPhotosRepository } from './contact-photos.repository.js';
import { DuplicatesController } from './duplicates/duplicates.controller.js';
import { DuplicatesRepository } from './duplicates/duplicates.repository.js';
import { FormerContacts } from './former-contacts.repository.js';
import { DuplicatesService } from './duplicates/duplicates.service.js';
import { GlobalBook } from './global-book.js';
import { ContactPhotosController, SelfPhotoController } from './photos/contact-photos.controller.js';
import { ContactPhotosService } from './photos/contact-photos.service.js';
import { ContactMovesController } from './moves/contact-moves.controller.js';
import { ContactMovesService } from './moves/contact-moves.service.js';
import { MemberDirectoryService } from './people/directory.service.js';
import { PeopleController } from './people/people.controller.js';
import { SelfService } from './people/self.service.js';
import { ContactFeedRepository } from './sync/contact-feed.repository.js';
import { ContactSyncController } from './sync/contact-sync.controller.js';
import { ContactSyncService } from './sync/contact-sync.service.js';
import { ContactPublicEvents } from './items/contact-public-events.js';
import { ContactFormatsService } from './items/contact-formats.service.js';
import { SelfCardController } from './people/self-card.controller.js';
import { SelfCardService } from './people/self-card.service.js';
import { ExportRepository } from './phone/export.repository.js';
import { ExportService } from './phone/export.service.js';
import { ImportBatch } from './phone/import-batch.js';
import { ImportPhotos } from './phone/import-photos.js';
import { ImportUndo } from './phone/import-undo.js';
import { ImportsRepository } from './phone/imports.repository.js';
import { ImportsService } from './phone/imports.service.js';
import { PhoneController } from './phone/phone.controller.js';
import { ContactCards } from './phone/cards/contact-cards.js';
import { ContactCardsRepository } from './phone/cards/contact-cards.repository.js';
import { CardChanges } from './sync/card-changes.js';
import { ContactsPersonalData } from './contacts-personal-data.js';

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
