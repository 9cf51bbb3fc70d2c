import { ApiProperty, ApiPropertyOptional, getSchemaPath, ApiExtraModels } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsString,
  IsUUID,
  MaxLength,
  MinDate,
  ValidateNested,
} from 'class-validator';
import {
  asNamedUser,
  EachAs,
  Optional,
  Nullable,
  Timestamp,
} from '../../../platform/http/input.decorators.js';

const MAX_INVITED = 200;

const ROLES = ['viewer', 'editor'] as const;
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

export class ShareNote {
  /** Role of visitors with the link. */
  @ApiPropertyOptional({ enum: ROLES, default: 'viewer' })
  @Optional()
  @IsIn(ROLES)
  role: (typeof ROLES)[number] = 'viewer';

  /** Time at which the link stops working, RFC 3339. Null or missing: never. */
  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true, example: '2099-01-31T18:00:00Z' })
  @Nullable()
  @Timestamp()
  @MinDate(() => new Date(), { message: 'expires_at must be a time in the future, RFC 3339' })
  expires_at?: Date | null;
}

/** A member to invite: one of `user_id`, `id` (the same) and `email`. */
export class InvitedMember {
  @ApiPropertyOptional({ format: 'uuid', example: ID })
  @Optional()
  @IsUUID('all', { message: 'user_id must be a UUID' })
  user_id?: string;

  @ApiPropertyOptional({ format: 'uuid', example: ID })
  @Optional()
  @IsUUID('all', { message: 'id must be a UUID' })
  id?: string;

  @ApiPropertyOptional({ type: String, nullable: true, example: 'bob@example.com' })
  @Nullable()
  @MaxLength(320)
  @IsString()
  email?: string | null;

  @ApiPropertyOptional({ enum: ROLES, default: 'viewer' })
  @Optional()
  @IsIn(ROLES)
  role: (typeof ROLES)[number] = 'viewer';
}

@ApiExtraModels(InvitedMember)
export class InviteToNote {
  /** All members that can read the note, besides its owner; others lose it. A bare string is an id or an e-mail address. */
  @ApiProperty({
    type: 'array',
    maxItems: MAX_INVITED,
    items: { anyOf: [{ $ref: getSchemaPath(InvitedMember) }, { type: 'string' }] },
    example: [{ email: 'bob@demo.example', role: 'editor' }],
  })
  @EachAs((entry) => asNamedUser(InvitedMember, entry))
  @ValidateNested({
    each: true,
    message: 'each entry of invited must be an object, an id or an e-mail address',
  })
  @ArrayMaxSize(MAX_INVITED)
  @IsArray()
  invited!: InvitedMember[];
}
