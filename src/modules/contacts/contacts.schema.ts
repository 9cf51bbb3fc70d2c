import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { ReceivedAddress, ReceivedAddressScan } from './collected/received.entity.js';
import { ContactImport, ContactImportItem } from './phone/import.entity.js';
import {
  Addressbook,
  AddressbookShare,
  Contact,
  ContactMerge,
  ContactPhoto,
  ContactWord,
  SuppressedAddress,
} from './contacts.entity.js';

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
  migrations: [
    sqlMigration('Contacts1796200000001', new URL('migrations/0001-contacts.sql', import.meta.url)),
    sqlMigration(
      'ContactImports1796200000004',
      new URL('migrations/0002-phone-imports.sql', import.meta.url),
    ),
    sqlMigration('ContactPhotos1796300001401', new URL('migrations/0003-photos.sql', import.meta.url)),
    sqlMigration(
      'ReceivedAddresses1796300001402',
      new URL('migrations/0004-received-addresses.sql', import.meta.url),
    ),
    sqlMigration(
      'CollectedBooks1798022304571',
      new URL('migrations/0005-collected-books.sql', import.meta.url),
    ),
    sqlMigration(
      'FormerRevisions1798800000072',
      new URL('migrations/0006-former-revisions.sql', import.meta.url),
    ),
    sqlMigration(
      'AddressesOfDeletedContacts1798800000073',
      new URL('migrations/0007-addresses-of-deleted-contacts.sql', import.meta.url),
    ),
  ],
  sql: sqlFiles('workspace', new URL('sql/', import.meta.url), 'contact-writes'),
};
