import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsOptional, IsUUID } from 'class-validator';
import { DATE_TIME, NO_UUID, UUID } from '../../../platform/field-docs/field-docs.js';
import {
  Distinct,
  EmailAddress,
  IntegerFrom,
  OneOf,
  Optional,
  Text,
} from '../../../platform/http/input.decorators.js';
import { type Language, LANGUAGES } from '../../../platform/languages/languages.js';
import { PageEnvelope, PageQuery } from '../../../platform/paging/page.dto.js';

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

export class InvitationResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ example: 'carol@demo.example' }) email!: string;
  @ApiProperty({ enum: ['owner', 'admin', 'member'], example: 'member' }) role!: string;
  /** Ids of the groups that the new member joins. */
  @ApiProperty({ type: [String], format: 'uuid', example: [] }) groups!: string[];
  /** @example "Welcome to the team." */ message!: string;
  @ApiProperty({ enum: ['pending', 'accepted', 'revoked', 'expired'], example: 'pending' }) state!: string;
  /** Null for a user who joins by a verified domain. */
  @ApiProperty(UUID) invited_by!: string | null;
  /** The new member; null before the acceptance. */
  @ApiProperty(NO_UUID) accepted_by!: string | null;
  /** Number of mails. */
  @ApiProperty({ type: 'integer', example: 1 }) sent!: number;
  @ApiProperty(DATE_TIME) created_at!: string;
  @ApiProperty(DATE_TIME) expires_at!: string;
}

export class InvitationEnvelope {
  invitation!: InvitationResponse;
}

export class InvitationMail {
  @ApiProperty({
    enum: ['queued', 'sent', 'failed', 'expired', 'cancelled', 'not_configured'],
    example: 'sent',
  })
  state!: string;
  /** Response of the mail server to a failed mail. */
  @ApiProperty({ example: null }) error!: string | null;
}

export class InvitationDetailEnvelope extends InvitationEnvelope {
  /** The newest mail of the invitation; null after 30 days. */
  @ApiProperty({ type: InvitationMail, nullable: true, example: { state: 'sent', error: null } })
  mail!: InvitationMail | null;
}

export class InvitationListEnvelope extends PageEnvelope {
  invitations!: InvitationResponse[];
}
