import { ApiProperty, ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional, IsString, IsUUID, MaxLength } from 'class-validator';
import { PageQuery } from '../../../../platform/paging/page.dto.js';
import { APPROVAL_STATES } from './approvals.response.js';

export class ListApprovals extends PickType(PageQuery, ['limit', 'cursor'] as const) {
  static readonly documentedErrors = PageQuery.documentedErrors;

  /** Guests of this call. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID()
  call_id?: string;

  /** Only approvals in this state. */
  @ApiPropertyOptional({ enum: APPROVAL_STATES, default: 'waiting' })
  @IsOptional()
  @IsIn(APPROVAL_STATES)
  state: (typeof APPROVAL_STATES)[number] = 'waiting';
}

export class ReviewApproval {
  @ApiProperty({ enum: ['approve', 'deny'], example: 'approve' })
  @IsIn(['approve', 'deny'])
  decision!: 'approve' | 'deny';

  /** For your colleagues. */
  @ApiPropertyOptional({ maxLength: 500, default: '', example: '' })
  @IsOptional()
  @MaxLength(500)
  @IsString()
  reason: string = '';

  /** A denied guest cannot request approval again. */
  @ApiPropertyOptional({ default: false, example: false })
  @IsOptional()
  @IsBoolean()
  remember: boolean = false;
}
