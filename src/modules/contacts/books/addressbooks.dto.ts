import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  getSchemaPath,
  IntersectionType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, Matches, ValidateNested } from 'class-validator';
import { BaseRevision } from '../../../platform/concurrency/base-revision.dto.js';
import { EXAMPLE_ID, UUID } from '../../../platform/field-docs/field-docs.js';
import {
  asNamedUser,
  Distinct,
  EachAs,
  Flag,
  Name,
  Nullable,
  OneOf,
  Optional,
  PastedAddress,
  Text,
  Uuid,
} from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { exampleOf } from '../../../platform/resources/example.js';
import { RevisionedFields } from '../../../platform/resources/item.response.js';
import { resource } from '../../../platform/resources/resource.js';
import {
  BOOK_KINDS,
  type BookKind,
  CONTACT_FIELDS,
  SHARE_ROLES,
  type ShareRole,
} from '../contacts.entity.js';
import { Country } from '../input/contact.dto.js';

const MAX_SHARES = 100;

/** A user to share an address book with: `user_id`, `id` or `email`. */
export class ShareInput {
  @Optional() @Uuid({ example: EXAMPLE_ID }) user_id?: string;
  /** The same as `user_id`. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) id?: string;
  @Optional() @PastedAddress() @Text(320, { example: 'bob@demo.example' }) email?: string;
  /** `reader`: reads the contacts. `writer`: also changes them. */
  @Optional() @OneOf(SHARE_ROLES) role: ShareRole = 'reader';
}

@ApiExtraModels(ShareInput)
export class CreateAddressbook {
  @Name(255, { example: 'Customers' }) name!: string;
  @Optional() @Text(2000, { example: 'Customers of the research department' }) description?: string;

  /** As #rrggbb. */
  @ApiPropertyOptional({ type: String, nullable: true, example: '#2f80ed' })
  @Nullable()
  @Matches(/^#[0-9a-f]{6}$/i, { message: 'color must be #rrggbb' })
  color?: string | null;

  /** Country of telephone numbers without an international prefix. */
  @ApiPropertyOptional({ type: String, nullable: true, pattern: '^[A-Za-z]{2}$', example: 'CZ' })
  @Nullable()
  @Country()
  default_country?: string | null;

  /** The whole list of other users with access. A bare string is an id or an address of a reader. */
  @ApiPropertyOptional({
    type: 'array',
    maxItems: MAX_SHARES,
    items: { anyOf: [{ $ref: getSchemaPath(ShareInput) }, { type: 'string' }] },
    example: [{ email: 'bob@demo.example', role: 'reader' }],
  })
  @Optional()
  @ValidateNested({ each: true, message: 'each entry of shares must be an object, an id or an address' })
  @EachAs((entry) => asNamedUser(ShareInput, entry), MAX_SHARES)
  @ArrayMaxSize(MAX_SHARES)
  @IsArray()
  shares?: ShareInput[];

  /** Makes this the default address book instead of the current one. */
  @Optional() @Flag({ example: false }) is_default?: boolean;
}

export class ListAllAddressbooks extends PickType(PageQuery, ['cursor'] as const) {
  static readonly documentedErrors = PageQuery.documentedErrors;
}

export class UpdateAddressbook extends IntersectionType(
  PartialType(CreateAddressbook, { skipNullProperties: false }),
  BaseRevision,
) {
  /** Fields that members may not change on their own card. Only in the address book of the workspace. */
  @ApiPropertyOptional({ enum: CONTACT_FIELDS, isArray: true, example: ['job_title'] })
  @Optional()
  @IsIn(CONTACT_FIELDS, { each: true })
  @Distinct()
  @ArrayMaxSize(CONTACT_FIELDS.length)
  @IsArray()
  locked_fields?: string[];
}

export class AddressbookOwnerResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Alice Martin" */ name!: string;
  /** @example "alice@demo.example" */ email!: string;
}

export class AddressbookShareResponse {
  @ApiProperty(UUID) user_id!: string;
  /** @example "Bob Okafor" */ name!: string;
  /** @example "bob@demo.example" */ email!: string;
  @ApiProperty({ enum: ['reader', 'writer'], example: 'reader' }) role!: 'reader' | 'writer';
}

/** An address book as the caller sees it. */
export class AddressbookResponse extends RevisionedFields {
  /** @example "Contacts" */ name!: string;
  @ApiProperty({ example: '' }) description!: string;
  /** @example "#2f80ed" */ color!: string | null;
  /**
   * `personal`: your own; `shared`: shared with you by another user; `global`: that of the workspace; `collected`: your own, to
   * which the server adds recipients of your messages and participants of your events.
   */
  @ApiProperty({ enum: [...BOOK_KINDS, 'shared'], example: 'personal' }) kind!: BookKind | 'shared';
  /** @example true */ is_default!: boolean;
  @ApiProperty({ enum: ['owner', 'writer', 'reader'], example: 'owner' })
  role!: 'owner' | 'writer' | 'reader';
  /** Null for the address book of the workspace. */
  @ApiProperty({
    type: AddressbookOwnerResponse,
    nullable: true,
    example: exampleOf(AddressbookOwnerResponse),
  })
  owner!: AddressbookOwnerResponse | null;
  /** Other users with access. Only for the owner. */ shares!: AddressbookShareResponse[];
  /** Country of telephone numbers without an international prefix. @example "CZ" */
  default_country!: string | null;
  /** Fields that members may not change on their own card. Only in the address book of the workspace. */
  @ApiProperty({ enum: CONTACT_FIELDS, isArray: true, example: [] }) locked_fields!: string[];
  @ApiProperty({ type: 'integer', minimum: 0, example: 12 }) contacts_count!: number;
}

export const ADDRESSBOOKS = resource({
  tag: 'contacts',
  name: 'addressbook',
  path: 'contact/addressbooks',
  item: AddressbookResponse,
  notFound: 'You have no such address book.',
  revision: 'optional',
});
