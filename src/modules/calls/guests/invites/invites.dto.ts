import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsEmail, IsOptional, MaxLength } from 'class-validator';
import { DATE_TIME, EXAMPLE_ID, UUID } from '../../../../platform/field-docs/field-docs.js';
import {
  Distinct,
  EachAs,
  Flag,
  IntegerFrom,
  Name,
  OneOf,
  Optional,
  Text,
  Time,
  Uuid,
} from '../../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../../../platform/paging/page.dto.js';
import { DOMAIN_STATES, GUEST_ROLES, INVITE_KINDS, INVITE_TARGETS } from '../guests.schema.js';
import { normalDomain, normalEmail } from '../model/guest-input.js';

const MAX_EMAILS = 50;
const MAX_USES = 10_000;

const TIME = { format: 'date-time', example: '2026-12-01T09:30:00.000Z' };

export class CreateInvites {
  @Uuid({ example: EXAMPLE_ID }) call_id!: string;

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
  @Optional() @OneOf(INVITE_KINDS, { example: 'personal' }) kind?: (typeof INVITE_KINDS)[number];
  /** `viewer`: the audience of a livestream. */
  @Optional() @OneOf(GUEST_ROLES, { default: 'guest', example: 'guest' }) role?: (typeof GUEST_ROLES)[number];
  /** A name that your list of invites shows. */
  @Optional() @Name(120, { example: 'Auditors' }) name?: string;
  /** At most 30 days ahead. Default: 30 days. An invite to a call ends 24 hours after the call at the latest. */
  @Optional() @Time(TIME) expires_at?: Date;
  /** Maximum number of guests of the invite. Default: 1 for a personal invite, 100 for a link, 10,000 for a link of viewers. */
  @Optional() @IntegerFrom(1, MAX_USES, { example: 1 }) max_uses?: number;
  /** Guests prove their address by a code. Default: the setting of the call for a personal invite, no for a link. */
  @Optional() @Flag({ example: true }) require_otp?: boolean;
  /** A host decides about each guest. Default: the setting of the call for a personal invite, yes for a link, no for viewers. */
  @Optional() @Flag({ example: true }) require_approval?: boolean;
  /** Guests read and send messages of the room. Default: the setting of the call, no for viewers. */
  @Optional() @Flag({ example: true }) chat_allowed?: boolean;
  /** A text for the mail. */
  @IsOptional() @Text(2000, { example: 'We start at ten.' }) message?: string;
  /** Whether personal invites are sent by mail. */
  @Optional() @Flag({ default: true, example: true }) send_email?: boolean;
  /** Language of the mail (BCP 47). Default: English. */
  @IsOptional() @Text(35, { example: 'de' }) locale?: string;
}

export class CreateRoomInvites extends OmitType(CreateInvites, ['call_id', 'role'] as const) {}

export class ListInvites extends PageQuery {
  /** Invites to this call. */
  @IsOptional() @Uuid() call_id?: string;
  /** Only invites in this state. */
  @IsOptional() @OneOf(['active', 'expired', 'revoked', 'exhausted']) state?: string;
}

export class CreateChatLink {
  /** Not later than the end of the invite, which is the default. */
  @Optional() @Time(TIME) expires_at?: Date;
}

export class RequestDomain {
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? normalDomain(value) : value))
  @Text(253, { minLength: 3, example: 'partner.example' })
  domain!: string;

  @IsOptional() @Text(500, { example: 'Our auditors', required: false }) reason: string = '';
}

const TOKEN = `${'A'.repeat(63)}w`;
const INVITE_STATES = ['active', 'expired', 'revoked', 'exhausted'] as const;

export class InviteTargetResponse {
  @ApiProperty({ enum: INVITE_TARGETS, example: 'call' }) kind!: (typeof INVITE_TARGETS)[number];
  @ApiProperty(UUID) id!: string;
}

export class InviteResponse {
  @ApiProperty(UUID) id!: string;
  target!: InviteTargetResponse;
  @ApiProperty({ enum: INVITE_KINDS, example: 'personal' }) kind!: (typeof INVITE_KINDS)[number];
  /** Null for a link. */
  @ApiProperty({ example: 'gina@partner.example' }) email!: string | null;
  @ApiProperty({ example: null }) name!: string | null;
  @ApiProperty({ enum: GUEST_ROLES, example: 'guest' }) role!: (typeof GUEST_ROLES)[number];
  @ApiProperty({ enum: INVITE_STATES, example: 'active' }) state!: (typeof INVITE_STATES)[number];
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 }) uses!: number;
  @ApiProperty({ type: 'integer', minimum: 1, example: 1 }) max_uses!: number;
  @ApiProperty({ example: true }) require_otp!: boolean;
  @ApiProperty({ example: true }) require_approval!: boolean;
  @ApiProperty({ example: true }) chat_allowed!: boolean;
  /** Whether there is a valid link to the chat. */
  @ApiProperty({ example: false }) has_chat_link!: boolean;
  @ApiProperty(UUID) created_by!: string;
  @ApiProperty(DATE_TIME) created_at!: string;
  @ApiProperty(DATE_TIME) expires_at!: string;
}

export class CreatedInviteResponse extends InviteResponse {
  /** In this response only. */
  @ApiProperty({ example: TOKEN }) token!: string;
  /** In this response only. */
  @ApiProperty({ example: `https://workspace.example/apis/v1/call/external/${TOKEN}/status` }) url!: string;
}

export class CreatedInvitesEnvelope {
  invites!: CreatedInviteResponse[];
}

export class InviteEnvelope {
  invite!: InviteResponse;
}

export class RevokedInviteEnvelope extends InviteEnvelope {
  @ApiProperty({ enum: [true], example: true }) revoked!: true;
}

export class InviteListEnvelope extends PageEnvelope {
  invites!: InviteResponse[];
}

export class ChatLinkResponse {
  /** In this response only. */
  @ApiProperty({ example: `https://workspace.example/apis/v1/call/external/${TOKEN}/status` }) url!: string;
  /** In this response only. */
  @ApiProperty({ example: TOKEN }) token!: string;
  @ApiProperty(UUID) room_id!: string;
  @ApiProperty(DATE_TIME) expires_at!: string;
}

export class ChatLinkEnvelope {
  chat_link!: ChatLinkResponse;
}

export class DeletedChatLinkEnvelope {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

export class DomainRequestResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "partner.example" */ domain!: string;
  @ApiProperty({ enum: DOMAIN_STATES, example: 'requested' }) state!: (typeof DOMAIN_STATES)[number];
  /** @example "Our auditors" */ reason!: string;
  @ApiPropertyOptional(DATE_TIME) created_at!: string;
}

export class DomainRequestEnvelope {
  domain_request!: DomainRequestResponse;
}
