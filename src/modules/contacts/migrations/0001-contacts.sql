CREATE TYPE addressbook_kind AS ENUM ('personal', 'global');
CREATE TYPE addressbook_share_role AS ENUM ('reader', 'writer');
CREATE TYPE contact_kind AS ENUM ('individual', 'group', 'org', 'location');
CREATE TYPE contact_source AS ENUM ('user', 'import', 'phone_sync', 'directory', 'extracted');

-- The global address book of a workspace has the id of the workspace and no owner.
CREATE TABLE addressbooks (
  tenant_id        uuid             NOT NULL,
  id               uuid             NOT NULL,
  owner_id         uuid,
  kind             addressbook_kind NOT NULL,
  name             text             NOT NULL,
  description      text             NOT NULL DEFAULT '',
  color            text,
  -- Country of telephone numbers without a prefix: ISO 3166-1, two letters.
  default_country  text,
  is_default       boolean          NOT NULL DEFAULT false,
  -- Fields that members may not change on their own card; global address book only.
  locked_fields    text[]           NOT NULL DEFAULT '{}',
  -- Kept by the functions that write contacts.
  contacts_count   int              NOT NULL DEFAULT 0,
  revision         int              NOT NULL DEFAULT 1,
  created_at       timestamptz(3)   NOT NULL DEFAULT now(),
  updated_at       timestamptz(3)   NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  CHECK ((kind = 'global') = (owner_id IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX addressbooks_owner ON addressbooks (tenant_id, owner_id, id);
CREATE UNIQUE INDEX addressbooks_default ON addressbooks (tenant_id, owner_id) WHERE is_default;

CREATE TABLE addressbook_shares (
  tenant_id       uuid                   NOT NULL,
  addressbook_id  uuid                   NOT NULL,
  user_id         uuid                   NOT NULL,
  role            addressbook_share_role NOT NULL,
  created_at      timestamptz(3)         NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, addressbook_id, user_id),
  FOREIGN KEY (tenant_id, addressbook_id) REFERENCES addressbooks (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX addressbook_shares_user ON addressbook_shares (tenant_id, user_id, addressbook_id);

CREATE TABLE contacts (
  tenant_id        uuid           NOT NULL,
  id               uuid           NOT NULL,
  addressbook_id   uuid           NOT NULL,
  external_id      text           NOT NULL,
  uid              text           NOT NULL,
  kind             contact_kind   NOT NULL,
  -- Folded full name, the order of lists.
  sort_key         text           COLLATE "C" NOT NULL,
  -- Text of a JSON object with the fields of the card; responses contain it as it is.
  card             json           NOT NULL,
  -- Characters of the card, which bound a page of the feed.
  size             int            NOT NULL,
  -- Words and keys under which contact_words lists the contact.
  words            text[]         COLLATE "C" NOT NULL,
  content_hash     bytea          NOT NULL,
  source           contact_source NOT NULL,
  linked_user_id   uuid,
  -- For each field that changed after the creation: the revision of its last change.
  field_revisions  jsonb          NOT NULL DEFAULT '{}',
  revision         int            NOT NULL DEFAULT 1,
  -- Number of its last change in the feed of the address book.
  seq              bigint         NOT NULL,
  created_at       timestamptz(3) NOT NULL DEFAULT now(),
  updated_at       timestamptz(3) NOT NULL DEFAULT now(),
  -- Time of the deletion; the row stays as the removal that the feed delivers, without the card.
  gone_at          timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, addressbook_id) REFERENCES addressbooks (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX contacts_feed ON contacts (tenant_id, addressbook_id, seq);
CREATE UNIQUE INDEX contacts_external_id ON contacts (tenant_id, addressbook_id, external_id) WHERE gone_at IS NULL;
CREATE UNIQUE INDEX contacts_uid ON contacts (tenant_id, addressbook_id, uid) WHERE gone_at IS NULL;
CREATE INDEX contacts_by_name ON contacts (tenant_id, addressbook_id, sort_key, id) WHERE gone_at IS NULL;
CREATE UNIQUE INDEX contacts_member ON contacts (tenant_id, linked_user_id) WHERE linked_user_id IS NOT NULL AND gone_at IS NULL;
CREATE INDEX contacts_gone ON contacts (gone_at) WHERE gone_at IS NOT NULL;

-- The search index of an address book: a word is a folded word of the contact, or a key (see contact-words.ts).
CREATE TABLE contact_words (
  tenant_id       uuid NOT NULL,
  addressbook_id  uuid NOT NULL,
  word            text COLLATE "C" NOT NULL,
  contact_id      uuid NOT NULL,
  PRIMARY KEY (tenant_id, addressbook_id, word, contact_id)
);

-- Extracted addresses that a user has removed from the list, for ever.
CREATE TABLE suppressed_addresses (
  tenant_id    uuid           NOT NULL,
  user_id      uuid           NOT NULL,
  address_key  text           NOT NULL,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id, address_key)
);

-- Merges that can be undone: the contacts as they were before.
CREATE TABLE contact_merges (
  tenant_id       uuid           NOT NULL,
  id              uuid           NOT NULL,
  addressbook_id  uuid           NOT NULL,
  user_id         uuid           NOT NULL,
  contact_id      uuid           NOT NULL,
  -- Revision of the contact that the merge wrote.
  revision        int            NOT NULL,
  -- The merged contacts before the merge, the remaining one first.
  originals       jsonb          NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, addressbook_id) REFERENCES addressbooks (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_merges_created ON contact_merges (created_at);
