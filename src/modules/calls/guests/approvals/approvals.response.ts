import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../../platform/paging/page.response.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';
export const APPROVAL_STATES = ['waiting', 'approved', 'denied', 'expired', 'removed'] as const;

export class ApprovalGuestResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  /** @example "Gina Guest" */ name!: string;
  @ApiProperty({ type: String, nullable: true, example: 'gina@partner.example' }) email!: string | null;
  /** By a code. */
  @ApiProperty({ example: true }) email_verified!: boolean;
}

export class ApprovalResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ enum: ['guest', 'domain'], example: 'guest' }) kind!: 'guest' | 'domain';
  @ApiProperty({ enum: APPROVAL_STATES, example: 'waiting' }) state!: (typeof APPROVAL_STATES)[number];
  /** Null for a domain. */
  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/ApprovalGuestResponse' }, { type: 'null' }],
    example: { id: ID, name: 'Gina Guest', email: 'gina@partner.example', email_verified: true },
  })
  guest!: ApprovalGuestResponse | null;
  /** Null for a guest. */
  @ApiProperty({ type: String, nullable: true, example: null }) domain!: string | null;
  /** The member who requested the domain. */
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: null }) requested_by!: string | null;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: ID }) invite_id!: string | null;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: ID }) call_id!: string | null;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: ID }) room_id!: string | null;
  /** Of the decision about a guest, or of the request of a domain. */
  @ApiProperty({ example: '' }) reason!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) waiting_since!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: null }) decided_by!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  decided_at!: string | null;
}

export class ApprovalEnvelope {
  approval!: ApprovalResponse;
}

export class ApprovalListEnvelope extends PageEnvelope {
  approvals!: ApprovalResponse[];
}
