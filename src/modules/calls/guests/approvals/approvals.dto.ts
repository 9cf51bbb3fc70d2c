import { IsOptional } from 'class-validator';
import { Flag, OneOf, Text, Uuid } from '../../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../../platform/paging/page.dto.js';
import { APPROVAL_STATES } from './approvals.response.js';

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
