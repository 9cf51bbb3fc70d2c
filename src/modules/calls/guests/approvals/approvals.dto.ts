import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import {
  DATE_TIME,
  EXAMPLE_ID,
  NO_DATE_TIME,
  NO_UUID,
  UUID,
} from '../../../../platform/field-docs/field-docs.js';
import { Flag, OneOf, Text, Uuid } from '../../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../../../platform/paging/page.dto.js';

export const APPROVAL_STATES = ['waiting', 'approved', 'denied', 'expired', 'removed'] as const;

export class ApprovalGuestResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Gina Guest" */ name!: string;
  @ApiProperty({ example: 'gina@partner.example' }) email!: string | null;
  /** The guest has proved the address by a code. */
  @ApiProperty({ example: true }) email_verified!: boolean;
}

export class ApprovalResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ enum: ['guest', 'domain'], example: 'guest' }) kind!: 'guest' | 'domain';
  @ApiProperty({ enum: APPROVAL_STATES, example: 'waiting' }) state!: (typeof APPROVAL_STATES)[number];
  /** Null for a domain. */
  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/ApprovalGuestResponse' }, { type: 'null' }],
    example: { id: EXAMPLE_ID, name: 'Gina Guest', email: 'gina@partner.example', email_verified: true },
  })
  guest!: ApprovalGuestResponse | null;
  /** Null for a guest. */
  @ApiProperty({ example: null }) domain!: string | null;
  /** The member who requested the domain. */
  @ApiProperty(NO_UUID) requested_by!: string | null;
  @ApiProperty(UUID) invite_id!: string | null;
  @ApiProperty(UUID) call_id!: string | null;
  @ApiProperty(UUID) room_id!: string | null;
  /** The reason of the decision about a guest, or of the request for a domain. */
  @ApiProperty({ example: '' }) reason!: string;
  @ApiProperty(DATE_TIME) waiting_since!: string;
  @ApiProperty(NO_UUID) decided_by!: string | null;
  @ApiProperty(NO_DATE_TIME) decided_at!: string | null;
}

export class ApprovalEnvelope {
  approval!: ApprovalResponse;
}

export class ApprovalListEnvelope extends PageEnvelope {
  approvals!: ApprovalResponse[];
}

export class ListApprovals extends PageQuery {
  /** Guests of this call. */
  @IsOptional() @Uuid() call_id?: string;

  /** Only approvals in this state. */
  @IsOptional()
  @OneOf(APPROVAL_STATES, { required: false })
  state: (typeof APPROVAL_STATES)[number] = 'waiting';
}

export class ReviewApproval {
  @OneOf(['approve', 'deny'], { example: 'approve' }) decision!: 'approve' | 'deny';
  /** The reason, for your colleagues. */
  @IsOptional() @Text(500, { example: '', required: false }) reason: string = '';
  /** A denied guest cannot request approval again. */
  @IsOptional() @Flag({ example: false, required: false }) remember: boolean = false;
}
