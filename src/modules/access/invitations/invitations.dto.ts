import { ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  IsUUID,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Distinct, EmailAddress, Optional } from '../../../platform/http/input.decorators.js';
import { LANGUAGES, type Language } from '../../../platform/languages/languages.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';

const MAX_GROUPS = 20;
const DEFAULT_DAYS = 14;
const MAX_DAYS = 60;

export class CreateInvitation {
  /** The link goes to this address. @example "carol@demo.example" */
  @EmailAddress()
  email!: string;

  /** Role of the new member. You can give only roles whose permissions you hold. */
  @ApiPropertyOptional({ enum: ['owner', 'admin', 'member'], default: 'member', example: 'member' })
  @Optional()
  @IsIn(['owner', 'admin', 'member'])
  role: 'owner' | 'admin' | 'member' = 'member';

  /** Groups that the new member joins, by id. You must hold their permissions. */
  @ApiPropertyOptional({ type: [String], format: 'uuid', maxItems: MAX_GROUPS, example: [] })
  @Optional()
  @Distinct()
  @IsUUID('all', { each: true, message: 'groups must be UUIDs' })
  @ArrayMaxSize(MAX_GROUPS)
  @IsArray()
  groups: string[] = [];

  /** A personal text in the mail. @example "Welcome to the team." */
  @ApiPropertyOptional({ maxLength: 1000 })
  @Optional()
  @MaxLength(1000)
  @IsString()
  message: string = '';

  /** Language of the mail. */
  @ApiPropertyOptional({ enum: LANGUAGES, default: 'en', example: 'en' })
  @Optional()
  @IsIn([...LANGUAGES])
  language: Language = 'en';

  /** Days until the link expires. */
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_DAYS,
    default: DEFAULT_DAYS,
    example: DEFAULT_DAYS,
  })
  @Optional()
  @Max(MAX_DAYS)
  @Min(1)
  @IsInt()
  expires_in_days: number = DEFAULT_DAYS;
}

export class ListInvitations extends PageQuery {
  /** Only invitations in this state. @example "pending" */
  @IsOptional()
  @IsIn(['pending', 'accepted', 'revoked', 'expired'])
  state?: 'pending' | 'accepted' | 'revoked' | 'expired';
}
