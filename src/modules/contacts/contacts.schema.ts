import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import {
  Addressbook,
  AddressbookShare,
  Contact,
  ContactMerge,
  ContactPhoto,
  ContactWord,
  ReceivedAddress,
  ReceivedAddressScan,
  SuppressedAddress,
} from './contacts.entity.js';
import { ContactImport, ContactImportItem } from './phone/import.entity.js';

export const contactsSchema: SchemaPart = {
  owner: 'contacts',
  entities: {
    workspace: [
      Addressbook,
      AddressbookShare,
      Contact,
      ContactWord,
      ContactMerge,
      ContactPhoto,
      SuppressedAddress,
      ReceivedAddress,
      ReceivedAddressScan,
      ContactImport,
      ContactImportItem,
    ],
  },
  growth: {
    trimmedBy: { 'forget-contact-merges': ['contact_merges'], 'purge-contact-imports': ['contact_imports'] },
    cleanedBy: {
      'contacts.collect-photos': ['contact_photos'],
      'forget-feed-removals': ['contacts'],
      'purge-contact-imports': ['contact_import_items'],
      'received-addresses': ['received_addresses'],
    },
    content: ['addressbook_shares', 'addressbooks', 'contact_words', 'suppressed_addresses'],
    bounded: ['received_address_scans'],
  },
  migrations: sqlMigrations(import.meta.url, {
    Contacts1796200000001: '0001-contacts',
    ContactImports1796200000004: '0002-phone-imports',
    ContactPhotos1796300001401: '0003-photos',
    ReceivedAddresses1796300001402: '0004-received-addresses',
    CollectedBooks1798022304571: '0005-collected-books',
    FormerRevisions1798800000072: '0006-former-revisions',
    AddressesOfDeletedContacts1798800000073: '0007-addresses-of-deleted-contacts',
    RevisionsBeforeImports1798814000021: '0008-revisions-before-imports',
    SpellingOfUids1798814000053: '0009-spelling-of-uids',
    JoinedWordsOfContacts1798814000098: '0010-joined-words',
    ValuesOfImportedCards1798816000001: '0011-values-of-imported-cards',
    DigitsOfContacts1798816000072: '0012-digits',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'contact-writes'),
};
