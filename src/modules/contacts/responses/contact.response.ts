import { ApiProperty, IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { CARD_DATE_TYPES, CARD_KINDS } from '../../../lib/vcard/index.js';
import { ErrorResponse } from '../../../platform/http/error.response.js';
import { PageEnvelope } from '../../../platform/paging/page.dto.js';
import { exampleOf } from '../../../platform/resources/example.js';
import { EXAMPLE_ID, NO_UUID, UUID } from '../../../platform/field-docs/field-docs.js';
import { RevisionedFields } from '../../../platform/resources/item.response.js';
import { CONTACT_FIELDS, CONTACT_SOURCES } from '../contacts.entity.js';

export class ContactNameResponse {
  @ApiProperty({ example: null }) prefix!: string | null;
  /** @example "Maria" */ given!: string | null;
  @ApiProperty({ example: null }) middle!: string | null;
  /** @example "Silva" */ family!: string | null;
  @ApiProperty({ example: null }) suffix!: string | null;
  @ApiProperty({ example: null }) phonetic_given!: string | null;
  @ApiProperty({ example: null }) phonetic_family!: string | null;
}

export class ContactOrganizationResponse {
  /** @example "Acme" */ name!: string | null;
  @ApiProperty({ example: ['Research'] }) units!: string[];
}

class ContactEntryResponse {
  /** In the user's own words. */ @ApiProperty({ example: null }) label!: string | null;
  @ApiProperty({ example: ['work'] }) types!: string[];
  /** @example false */ primary!: boolean;
}

export class ContactValueResponse extends ContactEntryResponse {
  /** @example "maria@example.com" */ value!: string;
}

export class ContactPhoneResponse extends ContactEntryResponse {
  /** @example "+420 601 123 456" */ value!: string;
  /** The international form; null for a value that is no possible number. @example "+420601123456" */
  e164!: string | null;
  @ApiProperty({ example: null }) extension!: string | null;
}

export class ContactAddressResponse extends ContactEntryResponse {
  /** @example "Street 1" */ street!: string | null;
  @ApiProperty({ example: null }) extended!: string | null;
  @ApiProperty({ example: null }) po_box!: string | null;
  /** @example "Prague" */ locality!: string | null;
  @ApiProperty({ example: null }) region!: string | null;
  /** @example "110 00" */ postal_code!: string | null;
  /** @example "Czechia" */ country!: string | null;
  /** @example "CZ" */ country_code!: string | null;
  @ApiProperty({ example: null }) formatted!: string | null;
}

export class ContactProfileResponse extends ContactEntryResponse {
  /** @example "Mastodon" */ service!: string | null;
  /** @example "@maria@example.social" */ user!: string | null;
  @ApiProperty({ example: null }) uri!: string | null;
}

export class ContactDateResponse {
  @ApiProperty({ enum: CARD_DATE_TYPES, example: 'birthday' }) type!: string;
  @ApiProperty({ type: 'integer', example: null }) year!: number | null;
  @ApiProperty({ type: 'integer', example: 4 }) month!: number | null;
  @ApiProperty({ type: 'integer', example: 30 }) day!: number | null;
  @ApiProperty({ example: null }) label!: string | null;
}

export class ContactRelatedResponse {
  /** @example "manager" */ type!: string | null;
  /** @example "Ivo Novak" */ name!: string | null;
  @ApiProperty({ example: null }) uri!: string | null;
}

export class ContactPropertyResponse {
  @ApiProperty({ example: null }) group!: string | null;
  /** @example "X-PHONETIC-ORG" */ name!: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
    example: {},
  })
  params!: Record<string, string[]>;
  /** @example "Ak-mi" */ value!: string;
}

export class ContactPermissionsResponse {
  /** @example true */ edit!: boolean;
  /** @example true */ delete!: boolean;
}

export class ContactPhotoResponse {
  /** Path of the photo, which changes with the photo. */
  @ApiProperty({
    format: 'uri-reference',
    example: `/apis/v1/contact/addressbooks/${EXAMPLE_ID}/contacts/phone-17/photo?v=${EXAMPLE_ID}`,
  })
  url!: string;
  @ApiProperty({ enum: ['image/jpeg'], example: 'image/jpeg' }) media_type!: string;
  /** Bytes. */ @ApiProperty({ type: 'integer', example: 48_213 }) size!: number;
  /** Hexadecimal. */ @ApiProperty({ example: 'a3'.repeat(32) }) sha256!: string;
  /** Pixels. */ @ApiProperty({ type: 'integer', example: 720 }) width!: number;
  /** Pixels. */ @ApiProperty({ type: 'integer', example: 720 }) height!: number;
}

/** A contact. Every field is present: `null` and `[]` mean "none". */
export class ContactResponse extends RevisionedFields {
  /** Names the contact in paths. @example "phone-17" */ external_id!: string;
  /** The vCard UID. @example "4fbe8971-0bc3-424c-9c26-36c3e1eff6b1" */ uid!: string;
  @ApiProperty(UUID) addressbook_id!: string;
  @ApiProperty({ enum: CARD_KINDS, example: 'individual' }) kind!: string;
  /** @example "Maria Silva" */ full_name!: string | null;
  @ApiProperty({ type: ContactNameResponse, nullable: true, example: exampleOf(ContactNameResponse) })
  name!: ContactNameResponse | null;
  @ApiProperty({ example: ['Mia'] }) nicknames!: string[];
  @ApiProperty({
    type: ContactOrganizationResponse,
    nullable: true,
    example: exampleOf(ContactOrganizationResponse),
  })
  organization!: ContactOrganizationResponse | null;
  /** @example "Head of Research" */ job_title!: string | null;
  emails!: ContactValueResponse[];
  phones!: ContactPhoneResponse[];
  addresses!: ContactAddressResponse[];
  @ApiProperty({ type: [ContactValueResponse], example: [] }) urls!: ContactValueResponse[];
  profiles!: ContactProfileResponse[];
  dates!: ContactDateResponse[];
  /** Plain text. @example "Met in Prague" */ notes!: string | null;
  @ApiProperty({ example: ['customers'] }) categories!: string[];
  related!: ContactRelatedResponse[];
  /** The uids of the members of a group. */ @ApiProperty({ example: [] }) members!: string[];
  /** @example "Europe/Prague" */ time_zone!: string | null;
  /** @example "cs" */ language!: string | null;
  /**
   * vCard properties that no other field holds. A property with the value of a field has the group and the parameters of this value, and
   * is removed with it.
   */
  custom!: ContactPropertyResponse[];
  @ApiProperty({ type: ContactPhotoResponse, nullable: true, example: exampleOf(ContactPhotoResponse) })
  photo!: ContactPhotoResponse | null;
  /** The member of the workspace whose card this is. */
  @ApiProperty(NO_UUID) linked_user_id!: string | null;
  @ApiProperty({ enum: CONTACT_SOURCES, example: 'user' }) source!: string;
  permissions!: ContactPermissionsResponse;
}

/** A contact of a list. With `fields`, it has only the selected ones of the optional members. */
export class ListedContactResponse extends IntersectionType(
  OmitType(ContactResponse, CONTACT_FIELDS),
  PartialType(PickType(ContactResponse, CONTACT_FIELDS)),
) {}

export class ListedContactsEnvelope extends PageEnvelope {
  contacts!: ListedContactResponse[];
}

/** A contact that may be the same person. */
export class PossibleDuplicateResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "phone-17" */ external_id!: string;
  /** @example "Maria Silva" */ full_name!: string | null;
}

/** A new contact. */
export class CreatedContactEnvelope {
  contact!: ContactResponse;
  /** Other contacts of the book with the same address, number or name. */
  possible_duplicates!: PossibleDuplicateResponse[];
}

/** 409: the existing contact with the same external_id, uid, e-mail address or telephone number. */
export class DuplicateContactResponse extends ErrorResponse {
  @ApiProperty({
    enum: ['duplicate_external_id', 'duplicate_uid', 'duplicate_contact'],
    example: 'duplicate_external_id',
  })
  override error!: string;
  contact!: ContactResponse;
}
