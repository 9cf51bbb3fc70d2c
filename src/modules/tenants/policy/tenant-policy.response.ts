import { ApiProperty } from '@nestjs/swagger';
import { DATE_TIME } from '../../../platform/field-docs/field-docs.js';
import { AUDIENCES } from '../tenant-policy.entity.js';

export class SecondFactorPolicyResponse {
  /** @example true */ required!: boolean;
  @ApiProperty({ type: 'integer', example: 7 }) grace_days!: number;
  /** Start of the requirement. */
  @ApiProperty(DATE_TIME) required_since!: string | null;
}

export class TenantPolicyResponse {
  second_factor!: SecondFactorPolicyResponse;
  @ApiProperty({ type: 'integer', example: 14 }) session_days!: number | null;
  @ApiProperty({ type: 'integer', example: null }) password_min_length!: number | null;
  @ApiProperty({ enum: AUDIENCES, example: 'members' }) link_shares!: string;
  @ApiProperty({ enum: AUDIENCES, example: 'admins' }) guest_invites!: string;
  @ApiProperty({ type: [String], nullable: true, example: null }) allowed_issuers!: string[] | null;
  /** @example false */ domain_join!: boolean;
  @ApiProperty({ type: 'integer', example: 30 }) erase_after_days!: number | null;
  /** Null when no policy was set. */
  @ApiProperty(DATE_TIME) updated_at!: string | null;
}

export class TenantPolicyEnvelope {
  policy!: TenantPolicyResponse;
}
