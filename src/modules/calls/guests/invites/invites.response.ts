import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { PageEnvelope } from '../../../../platform/paging/page.response.js';
import { DATE_TIME, UUID } from '../../../../platform/field-docs/field-docs.js';
import { DOMAIN_STATES, GUEST_ROLES, INVITE_KINDS, INVITE_TARGETS } from '../guest.entity.js';

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
