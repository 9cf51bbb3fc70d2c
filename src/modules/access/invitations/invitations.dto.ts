import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsOptional, IsUUID } from 'class-validator';
import {
  Distinct,
  EmailAddress,
  IntegerFrom,
  OneOf,
  Optional,
  Text,
} from '../../../platform/http/input.decorators.js';
import { LANGUAGES, type Language } from '../../../platform/languages/languages.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';

const MAX_GROUPS = 20;
const DEFAULT_DAYS = 14;
const MAX_DAYS = 60;

export class CreateInvitation {
  /** The link goes to this address. @example "carol@demo.example" */
  @EmailAddress() email!: string;

  /** Role of the new member. You can give only roles whose permissions you hold. */
  @Optional()
  @OneOf(['owner', 'admin', 'member'], { example: 'member' })
  role: 'owner' | 'admin' | 'member' = 'member';

  /** Groups that the new member joins, by id. You must hold their permissions. */
  @ApiPropertyOptional({ type: [String], format: 'uuid', maxItems: MAX_GROUPS, example: [] })
  @Optional()
  @Distinct()
  @IsUUID('all', { each: true, message: 'groups must be UUIDs' })
  @ArrayMaxSize(MAX_GROUPS)
  @IsArray()
  groups: string[] = [];

  /** A personal text in the mail. */
  @Optional() @Text(1000, { example: 'Welcome to the team.' }) message: string = '';
  /** Language of the mail. */
  @Optional() @OneOf(LANGUAGES, { example: 'en' }) language: Language = 'en';
  /** Days until the link expires. */
  @Optional() @IntegerFrom(1, MAX_DAYS, { example: DEFAULT_DAYS }) expires_in_days: number = DEFAULT_DAYS;
}

export class ListInvitations extends PageQuery {
  /** Only invitations in this state. */
  @IsOptional()
  @OneOf(['pending', 'accepted', 'revoked', 'expired'], { example: 'pending' })
  state?: 'pending' | 'accepted' | 'revoked' | 'expired';
}
