import {
  ApiExtraModels,
  ApiPropertyOptional,
  getSchemaPath,
  IntersectionType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, Matches, ValidateNested } from 'class-validator';
import { BaseRevision } from '../../../platform/concurrency/base-revision.dto.js';
import {
  PastedAddress,
  asNamedUser,
  Distinct,
  EachAs,
  Flag,
  Name,
  Nullable,
  OneOf,
  Optional,
  Text,
  Uuid,
} from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { CONTACT_FIELDS, SHARE_ROLES, type ShareRole } from '../contacts.entity.js';
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
