import { ApiProperty, ApiPropertyOptional, getSchemaPath, ApiExtraModels } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, MinDate, ValidateNested } from 'class-validator';
import {
  PastedAddress,
  asNamedUser,
  EachAs,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
  Uuid,
} from '../../../platform/http/input.decorators.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';

const MAX_INVITED = 200;

const ROLES = ['viewer', 'editor'] as const;

export class ShareNote {
  /** Role of visitors with the link. */
  @Optional() @OneOf(ROLES) role: (typeof ROLES)[number] = 'viewer';

  /** Time at which the link stops working, RFC 3339. Null or missing: never. */
  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true, example: '2099-01-31T18:00:00Z' })
  @Nullable()
  @Timestamp()
  @MinDate(() => new Date(), { message: 'expires_at must be a time in the future, RFC 3339' })
  expires_at?: Date | null;
}

/** A member to invite: one of `user_id`, `id` (the same) and `email`. */
export class InvitedMember {
  @Optional() @Uuid({ example: EXAMPLE_ID }) user_id?: string;
  @Optional() @Uuid({ example: EXAMPLE_ID }) id?: string;
  @Nullable() @PastedAddress() @Text(320, { example: 'bob@example.com' }) email?: string | null;
  @Optional() @OneOf(ROLES) role: (typeof ROLES)[number] = 'viewer';
}

@ApiExtraModels(InvitedMember)
export class InviteToNote {
  /** All members that can read the note, besides its owner; others lose access. A bare string is an id or an e-mail address. */
  @ApiProperty({
    type: 'array',
    maxItems: MAX_INVITED,
    items: { anyOf: [{ $ref: getSchemaPath(InvitedMember) }, { type: 'string' }] },
    example: [{ email: 'bob@demo.example', role: 'editor' }],
  })
  @EachAs((entry) => asNamedUser(InvitedMember, entry), MAX_INVITED)
  @ValidateNested({
    each: true,
    message: 'each entry of invited must be an object, an id or an e-mail address',
  })
  @ArrayMaxSize(MAX_INVITED)
  @IsArray()
  invited!: InvitedMember[];
}
