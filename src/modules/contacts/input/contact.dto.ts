import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, ApiExtraModels, getSchemaPath, IntersectionType } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsOptional,
  IsString,
  Length,
  Matches,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { Transform } from 'class-transformer';
import { BaseRevision } from '../../../platform/concurrency/base-revision.dto.js';
import {
  asInstance,
  EachAs,
  MaxBytes,
  Nullable,
  OneOf,
  Optional,
  Text,
  Nested,
} from '../../../platform/http/input.decorators.js';
import { CARD_KINDS, type CardKind, uidOf } from '../../../lib/vcard/index.js';
import { CONTACT_FIELDS } from '../contacts.entity.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import {
  AddressInput,
  CARD_LIMITS,
  CardText,
  CardTexts,
  DateInput,
  NameInput,
  OrganizationInput,
  PhoneInput,
  ProfileInput,
  PropertyInput,
  RelatedInput,
  ValueInput,
} from './card-fields.dto.js';
import { isPhoneCountry, MAX_UID } from '../../../lib/contact-card/index.js';

type Class = new () => object;

/** Documents the classes of list entries, which the inherited fields name. */
export const EntryModels = () =>
  ApiExtraModels(ValueInput, PhoneInput, AddressInput, ProfileInput, DateInput, RelatedInput, PropertyInput);

/** An optional nested object; null clears it. */
const Part = (type: Class, example: object): PropertyDecorator =>
  applyDecorators(
    Nested(type, { required: false, nullable: true, example, message: '$property must be an object' }),
    Nullable(),
  );

/** An optional list of nested objects; null clears it. A bare string is an entry with this value where `bare`. */
const Parts = (type: Class, example: object[], { bare = false } = {}): PropertyDecorator => {
  const item = { $ref: getSchemaPath(type) };
  const items = bare ? { anyOf: [item, { type: 'string' }] } : item;
  return applyDecorators(
    ApiPropertyOptional({
      type: 'array',
      nullable: true,
      maxItems: CARD_LIMITS.entries,
      items,
      example,
    } as object),
    Nullable(),
    ValidateNested({ each: true, message: 'each entry of $property must be an object' }),
    EachAs(
      (each) => asInstance(type, bare && typeof each === 'string' ? { value: each } : each),
      CARD_LIMITS.entries,
    ),
    ArrayMaxSize(CARD_LIMITS.entries),
    IsArray(),
  );
};

export const Country = (): PropertyDecorator =>
  applyDecorators(
    Transform(({ value }) => (typeof value === 'string' ? value.toUpperCase() : value)),
    ValidateBy({
      name: 'isPhoneCountry',
      validator: {
        validate: (value) => typeof value === 'string' && isPhoneCountry(value),
        defaultMessage: () =>
          '$property must be a country with telephone numbers, of two letters (ISO 3166-1)',
      },
    }),
  );

/** The country of telephone numbers: null for a country without numbers of its own. */
export const phoneCountry = (country: string | null | undefined): string | null =>
  country && isPhoneCountry(country) ? country : null;

/** The fields of a card. Missing fields stay as they are, null and empty lists clear them. */
export class CardFieldsInput {
  @Optional() @OneOf(CARD_KINDS, { example: 'individual' }) kind?: CardKind;
  /** Default: made of the name, organization, address or number. */
  @CardText('Maria Silva') full_name?: string | null;
  @Part(NameInput, { given: 'Maria', family: 'Silva' }) name?: NameInput | null;
  @CardTexts(['Mia']) nicknames?: string[] | null;
  @Part(OrganizationInput, { name: 'Acme', units: ['Research'] }) organization?: OrganizationInput | null;
  @CardText('Head of Research') job_title?: string | null;
  @Parts(ValueInput, [{ value: 'maria@example.com', types: ['work'] }], { bare: true })
  emails?: ValueInput[] | null;
  @Parts(PhoneInput, [{ value: '+420 601 123 456', types: ['cell'] }], { bare: true })
  phones?: PhoneInput[] | null;
  @Parts(AddressInput, [{ street: 'Street 1', locality: 'Prague', country_code: 'CZ' }])
  addresses?: AddressInput[] | null;
  @Parts(ValueInput, [{ value: 'https://example.com' }], { bare: true }) urls?: ValueInput[] | null;
  @Parts(ProfileInput, []) profiles?: ProfileInput[] | null;
  @Parts(DateInput, [{ type: 'birthday', month: 4, day: 30 }]) dates?: DateInput[] | null;

  /** Plain text, at most 64 KiB. */
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    maxLength: CARD_LIMITS.notes,
    example: 'Met in Prague',
  })
  @Nullable()
  @MaxBytes(CARD_LIMITS.notes)
  @IsString()
  notes?: string | null;

  @CardTexts(['customers']) categories?: string[] | null;
  @Parts(RelatedInput, []) related?: RelatedInput[] | null;
  /** The uids of the members of a group. */
  @CardTexts([], CARD_LIMITS.members, CARD_LIMITS.uid) members?: string[] | null;
  @CardText('Europe/Prague', CARD_LIMITS.zone) time_zone?: string | null;
  @CardText('cs', CARD_LIMITS.language) language?: string | null;
  @Parts(PropertyInput, []) custom?: PropertyInput[] | null;
}

export class PhoneCountry {
  /** Country of telephone numbers without an international prefix. Default: that of the address book. */
  @ApiPropertyOptional({ pattern: '^[A-Za-z]{2}$', example: 'CZ' })
  @Optional()
  @Country()
  default_country?: string;
}

export class ContactIds {
  /** Names the contact in paths. Chosen by the client, unique in the address book. Default: the new id. */
  @ApiPropertyOptional({ minLength: 1, maxLength: MAX_UID, example: 'phone-17' })
  @Optional()
  @ExternalIdField()
  external_id?: string;

  /** The vCard UID, unique in the address book. Default: the new id. */
  @ApiPropertyOptional({ minLength: 1, maxLength: MAX_UID, example: '4fbe8971-0bc3-424c-9c26-36c3e1eff6b1' })
  @Optional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? uidOf(value) : value))
  @ExternalIdField()
  uid?: string;
}

export const ON_DUPLICATE = ['create', 'merge', 'reject'] as const;

@EntryModels()
export class CreateContact extends IntersectionType(CardFieldsInput, ContactIds, PhoneCountry) {
  /**
   * For a contact with the e-mail address or telephone number of another one in the book. `create`: creates the contact anyway.
   * `merge`: adds the fields to the existing contact; the card of a member is not changed, as with `reject`.
   * `reject`: responds with 409.
   */
  @Optional() @OneOf(ON_DUPLICATE) on_duplicate: (typeof ON_DUPLICATE)[number] = 'create';
}

@EntryModels()
export class UpdateContact extends IntersectionType(CardFieldsInput, PhoneCountry, BaseRevision) {}

export class ListContacts extends PageQuery {
  /** Beginnings of words of the name, organization, e-mail address, or digits of a telephone number. */
  @IsOptional() @Text(200, { example: 'mar' }) q?: string;
  /** Only contacts with this address. */
  @IsOptional() @Text(320, { example: 'maria@example.com' }) email?: string;
  /** Only contacts with this telephone number, in digits of any script. A part of a number finds nothing. */
  @IsOptional() @Text(200, { example: '+420601123456' }) phone?: string;
  /** Only contacts of this category. */
  @IsOptional() @Text(1_000, { example: 'customers' }) category?: string;
  /** Only contacts of this kind. */
  @IsOptional() @OneOf(CARD_KINDS) kind?: CardKind;
  /** `updated`: last change first. */
  @IsOptional() @OneOf(['name', 'updated'], { required: false }) sort: 'name' | 'updated' = 'name';

  /** Comma-separated names of fields of contacts: the response contains only these and the ids. @example "full_name,emails" */
  @ApiPropertyOptional()
  @IsOptional()
  @Length(1, 300)
  @Matches(new RegExp(`^(?:${CONTACT_FIELDS.join('|')})(?:,(?:${CONTACT_FIELDS.join('|')}))*$`), {
    message: 'fields must be names of fields of contacts, separated by commas',
  })
  @IsString({ message: 'fields must be given once' })
  fields?: string;
}

export function ExternalIdField(): PropertyDecorator {
  return applyDecorators(
    Matches(/^[^\p{Cc}\p{Zl}\p{Zp}]+$/u, {
      message: '$property must be one line without control characters',
    }),
    Matches(/^(?!(?:sync|\.{1,2})$)/, { message: '$property is a reserved word' }),
    Length(1, MAX_UID),
    IsString(),
  );
}
