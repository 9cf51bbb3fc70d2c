import { ApiProperty, ApiPropertyOptional, OmitType, PickType } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsDate,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  IsUUID,
  Length,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Distinct, EachAs, Name, Optional, Timestamp } from '../../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../../platform/paging/page.dto.js';
import { GUEST_ROLES, INVITE_KINDS } from '../guest.entity.js';
import { IsEmail } from 'class-validator';
import { normalDomain, normalEmail } from '../guest-input.js';
import { Transform } from 'class-transformer';

const MAX_EMAILS = 50;
const MAX_USES = 10_000;

const TIME = { format: 'date-time', example: '2026-12-01T09:30:00.000Z' };

export class CreateInvites {
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' })
  @IsUUID()
  call_id!: string;

  /** One personal invite for each address. */
  @ApiPropertyOptional({
    type: [String],
    format: 'email',
    minItems: 1,
    maxItems: MAX_EMAILS,
    example: ['gina@partner.example'],
  })
  @EachAs((entry) => (typeof entry === 'string' ? normalEmail(entry) : entry))
  @Distinct()
  @Optional()
  @MaxLength(254, { each: true })
  @IsEmail({}, { each: true })
  @ArrayMaxSize(MAX_EMAILS)
  @ArrayMinSize(1)
  @IsArray()
  emails?: string[];

  /** Default: `personal` with addresses, else `link`: one invite for any number of guests. */
  @ApiPropertyOptional({ enum: INVITE_KINDS, example: 'personal' })
  @Optional()
  @IsIn(INVITE_KINDS)
  kind?: (typeof INVITE_KINDS)[number];

  /** `viewer`: for the audience of a livestream. */
  @ApiPropertyOptional({ enum: GUEST_ROLES, default: 'guest', example: 'guest' })
  @Optional()
  @IsIn(GUEST_ROLES)
  role?: (typeof GUEST_ROLES)[number];

  /** A name for your list. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 120, example: 'Auditors' })
  @Optional()
  @Name(120)
  name?: string;

  /** At most 30 days ahead. Default: 30 days. An invite to a call ends 24 hours after the call at the latest. */
  @ApiPropertyOptional(TIME)
  @Optional()
  @Timestamp()
  @IsDate()
  expires_at?: Date;

  /** Guests of the invite. Default: 1 for a personal invite, 100 for a link, 10,000 for a link of viewers. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_USES, example: 1 })
  @Optional()
  @Max(MAX_USES)
  @Min(1)
  @IsInt()
  max_uses?: number;

  /** Guests prove their address by a code. Default: as the call has it for a personal invite, no for a link. */
  @ApiPropertyOptional({ example: true })
  @Optional()
  @IsBoolean()
  require_otp?: boolean;

  /** A host decides about each guest. Default: as the call has it for a personal invite, yes for a link, no for viewers. */
  @ApiPropertyOptional({ example: true })
  @Optional()
  @IsBoolean()
  require_approval?: boolean;

  /** Guests read and send messages of the room. Default: as the call has it, no for viewers. */
  @ApiPropertyOptional({ example: true })
  @Optional()
  @IsBoolean()
  chat_allowed?: boolean;

  /** A text for the mail. */
  @ApiPropertyOptional({ maxLength: 2000, example: 'We start at ten.' })
  @IsOptional()
  @MaxLength(2000)
  @IsString()
  message?: string;

  /** Whether personal invites are sent by mail. */
  @ApiPropertyOptional({ default: true, example: true })
  @Optional()
  @IsBoolean()
  send_email?: boolean;

  /** Language of the mail (BCP 47). Default: English. */
  @ApiPropertyOptional({ maxLength: 35, example: 'de' })
  @IsOptional()
  @MaxLength(35)
  @IsString()
  locale?: string;
}

export class CreateRoomInvites extends OmitType(CreateInvites, ['call_id', 'role'] as const) {}

export class ListInvites extends PickType(PageQuery, ['limit', 'cursor'] as const) {
  static readonly documentedErrors = PageQuery.documentedErrors;

  /** Invites to this call. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID()
  call_id?: string;

  /** Only invites in this state. */
  @ApiPropertyOptional({ enum: ['active', 'expired', 'revoked', 'exhausted'] })
  @IsOptional()
  @IsIn(['active', 'expired', 'revoked', 'exhausted'])
  state?: string;
}

export class CreateChatLink {
  /** Not later than the end of the invite, which is the default. */
  @ApiPropertyOptional(TIME)
  @Optional()
  @Timestamp()
  @IsDate()
  expires_at?: Date;
}

export class RequestDomain {
  @ApiProperty({ minLength: 3, maxLength: 253, example: 'partner.example' })
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? normalDomain(value) : value))
  @Length(3, 253)
  @IsString()
  domain!: string;

  @ApiPropertyOptional({ maxLength: 500, default: '', example: 'Our auditors' })
  @IsOptional()
  @MaxLength(500)
  @IsString()
  reason: string = '';
}
