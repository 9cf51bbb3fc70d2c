import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsObject, IsString, MaxLength, ValidateNested } from 'class-validator';
import { DATE_TIME } from '../../../platform/field-docs/field-docs.js';
import { Flag, IntegerFrom, Nullable, OneOf, Optional } from '../../../platform/http/input.decorators.js';
import { type Audience, AUDIENCES } from '../tenants.schema.js';

export class SecondFactorPolicyInput {
  /** Whether every member needs a second factor. */
  @Optional() @Flag({ example: true }) required?: boolean;
  /** Days without a second factor, from the start of the requirement or of the membership. */
  @Optional() @IntegerFrom(0, 90, { example: 7 }) grace_days?: number;
}

export class UpdateTenantPolicy {
  @Optional()
  @ValidateNested()
  @Type(() => SecondFactorPolicyInput)
  @IsObject({ message: 'second_factor must be an object' })
  second_factor?: SecondFactorPolicyInput;

  /** Lifetime of sessions in days; null: the lifetime of the deployment. A shorter time applies to existing sessions too. */
  @Nullable() @IntegerFrom(1, 365, { example: 14 }) session_days?: number | null;
  /** Minimum length of new passwords; null: 12, which is also the minimum. */
  @Nullable() @IntegerFrom(12, 64, { example: 14 }) password_min_length?: number | null;
  /** Members who may create share links of notes. Existing links stay. */
  @Optional() @OneOf(AUDIENCES, { example: 'members' }) link_shares?: Audience;
  /** Members who may invite guests, among those with the permission `guests.invite`. */
  @Optional() @OneOf(AUDIENCES, { example: 'admins' }) guest_invites?: Audience;

  /** Accepted issuers of access tokens: `local` for the sign-in of this service, or the address of an issuer. Null: all issuers of the deployment. */
  @ApiPropertyOptional({ type: [String], maxItems: 10, nullable: true, example: null })
  @Nullable()
  @MaxLength(500, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(10)
  @IsArray()
  allowed_issuers?: string[] | null;

  /** Whether owners of an address in a verified domain of the workspace may join without an invitation. */
  @Optional() @Flag({ example: false }) domain_join?: boolean;
  /**
   * Days between the end of a membership and the erasure of the personal data of the former member; null: never. Also applies to
   * memberships that have ended before the change.
   */
  @Nullable() @IntegerFrom(1, 3650, { example: 30 }) erase_after_days?: number | null;
}

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
