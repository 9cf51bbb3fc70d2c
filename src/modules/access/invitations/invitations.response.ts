import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';

export class InvitationResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'carol@demo.example' }) email!: string;
  @ApiProperty({ enum: ['owner', 'admin', 'member'], example: 'member' }) role!: string;
  /** Ids of the groups that the new member joins. */
  @ApiProperty({ type: [String], format: 'uuid', example: [] }) groups!: string[];
  /** @example "Welcome to the team." */ message!: string;
  @ApiProperty({ enum: ['pending', 'accepted', 'revoked', 'expired'], example: 'pending' }) state!: string;
  /** Null for a user who joins by a verified domain. */
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: ID }) invited_by!: string | null;
  /** The new member; null before the acceptance. */
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: null }) accepted_by!: string | null;
  /** Number of mails. */
  @ApiProperty({ type: 'integer', example: 1 }) sent!: number;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) expires_at!: string;
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
  @ApiProperty({ type: String, nullable: true, example: null }) error!: string | null;
}

export class InvitationDetailEnvelope extends InvitationEnvelope {
  /** The newest mail of the invitation; null after 30 days. */
  @ApiProperty({ type: InvitationMail, nullable: true, example: { state: 'sent', error: null } })
  mail!: InvitationMail | null;
}

export class InvitationListEnvelope extends PageEnvelope {
  invitations!: InvitationResponse[];
}
