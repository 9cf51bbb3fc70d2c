import { ApiProperty, OmitType } from '@nestjs/swagger';
import { WholeListEnvelope } from '../../../platform/paging/page.response.js';
import { SessionState } from '../../account-security/index.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';

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
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: ID }) requested_by!: string | null;
  /** End of the request. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: TIME })
  expires_at!: string | null;
}

export class SecondFactorResetEnvelope {
  second_factor_reset!: SecondFactorResetState;
}
