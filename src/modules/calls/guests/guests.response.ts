import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../../../platform/http/error.response.js';
import { ApprovalResponse } from './approvals/approvals.response.js';

export class InvalidCodeResponse extends ErrorResponse {
  @ApiProperty({ enum: ['otp_invalid'], example: 'otp_invalid' }) override error!: 'otp_invalid';
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 4, example: 3 }) attempts_left!: number;
}

export class DomainNotAllowedResponse extends ErrorResponse {
  @ApiProperty({ enum: ['domain_not_allowed'], example: 'domain_not_allowed' })
  override error!: 'domain_not_allowed';
  /** @example "partner.example" */ domain!: string;
  @ApiProperty({ enum: [true], example: true }) can_request!: true;
}

export class AlreadyReviewedResponse extends ErrorResponse {
  @ApiProperty({ enum: ['already_reviewed'], example: 'already_reviewed' })
  override error!: 'already_reviewed';
  approval!: ApprovalResponse;
}
