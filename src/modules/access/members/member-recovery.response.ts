import { ApiProperty, OmitType } from '@nestjs/swagger';
import { WholeListEnvelope } from '../../../platform/paging/page.response.js';
import { DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { SessionState } from '../../account-security/index.js';

export class MemberSession extends OmitType(SessionState, ['current']) {}

export class MemberSessionListEnvelope extends WholeListEnvelope {
  /** The sessions in this workspace, by last use; at most 100. */
  sessions!: MemberSession[];
}

export class MemberSessionsEnded {
  @ApiProperty({ type: 'integer', example: 2 }) sessions_ended!: number;
}

export class SecondFactorResetState {
  /** `approval_required`: another member must repeat the request, because the member is an owner. */
  @ApiProperty({ enum: ['removed', 'approval_required'], example: 'removed' })
  state!: 'removed' | 'approval_required';
  /** The member who requested the reset of an owner. */
  @ApiProperty(UUID) requested_by!: string | null;
  /** When the request expires. */
  @ApiProperty(DATE_TIME) expires_at!: string | null;
}

export class SecondFactorResetEnvelope {
  second_factor_reset!: SecondFactorResetState;
}
