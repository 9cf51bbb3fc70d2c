import { ApiProperty, OmitType } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import type { TenantRole } from '../../../platform/context/request-context.js';
import { DATE_TIME, EXAMPLE_ID, UUID } from '../../../platform/field-docs/field-docs.js';
import { OneOf, Uuid } from '../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery, WholeListEnvelope } from '../../../platform/paging/page.dto.js';
import { SessionState } from '../../account-security/index.js';
import type { MemberStatus } from '../../tenants/index.js';

export class ListTenantMembers extends PageQuery {
  /** Only members with this status. */
  @IsOptional() @OneOf(['active', 'deactivated'], { example: 'active' }) status?: 'active' | 'deactivated';
  /** Users, service accounts, or both. Default: `user`. */
  @IsOptional() @OneOf(['user', 'service', 'all'], { example: 'user' }) kind?: 'user' | 'service' | 'all';
}

export class TransferContent {
  /** The active member who becomes the owner. */
  @Uuid({ example: EXAMPLE_ID }) to!: string;
}

export class TenantMemberResponse {
  @ApiProperty(UUID) user_id!: string;
  /** @example "Bob Okafor" */ display_name!: string;
  @ApiProperty({ example: 'bob@demo.example' }) email!: string;
  @ApiProperty({ enum: ['owner', 'admin', 'member'], example: 'admin' }) role!: TenantRole;
  @ApiProperty({ enum: ['active', 'deactivated'], example: 'active' }) status!: MemberStatus;
  @ApiProperty(DATE_TIME) created_at!: Date;
}

export class TenantMemberEnvelope {
  member!: TenantMemberResponse;
}

export class TenantMemberListEnvelope extends PageEnvelope {
  members!: TenantMemberResponse[];
}

export class MemberContentEnvelope {
  /** Number of objects by kind, including those in the trash. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    example: { task_folders: 1, tasks: 30, note_folders: 2, notes: 12 },
  })
  content!: Record<string, number>;
}

export class TransferredContentEnvelope {
  /** Number of transferred objects by kind. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    example: { task_folders: 1, tasks: 30, note_folders: 2, notes: 12 },
  })
  transferred!: Record<string, number>;
}

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
