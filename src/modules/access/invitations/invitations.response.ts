import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { DATE_TIME, NO_UUID, UUID } from '../../../platform/field-docs/field-docs.js';

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
