import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { Nullable, Optional } from '../../../platform/http/input.decorators.js';
import { type Audience, AUDIENCES } from '../tenant-policy.entity.js';

export class SecondFactorPolicyInput {
  /** Whether every member needs a second factor. @example true */
  @Optional()
  @IsBoolean()
  required?: boolean;

  /** Days without a second factor, from the start of the requirement or of the membership. */
  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: 90, example: 7 })
  @Optional()
  @Max(90)
  @Min(0)
  @IsInt()
  grace_days?: number;
}

export class UpdateTenantPolicy {
  @Optional()
  @ValidateNested()
  @Type(() => SecondFactorPolicyInput)
  @IsObject({ message: 'second_factor must be an object' })
  second_factor?: SecondFactorPolicyInput;

  /** Lifetime of sessions in days; null: that of the deployment. A shorter time applies to existing sessions too. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 365, nullable: true, example: 14 })
  @Nullable()
  @Max(365)
  @Min(1)
  @IsInt()
  session_days?: number | null;

  /** Minimum length of new passwords; null: 12, which is also the least value. */
  @ApiPropertyOptional({ type: 'integer', minimum: 12, maximum: 64, nullable: true, example: 14 })
  @Nullable()
  @Max(64)
  @Min(12)
  @IsInt()
  password_min_length?: number | null;

  /** Members who may create share links of notes. Existing links stay. */
  @ApiPropertyOptional({ enum: AUDIENCES, example: 'members' })
  @Optional()
  @IsIn([...AUDIENCES])
  link_shares?: Audience;

  /** Members who may invite guests, among those with the permission `guests.invite`. */
  @ApiPropertyOptional({ enum: AUDIENCES, example: 'admins' })
  @Optional()
  @IsIn([...AUDIENCES])
  guest_invites?: Audience;

  /** Accepted issuers of access tokens: `local` for the sign-in of this service, or the address of an issuer. Null: all of the deployment. */
  @ApiPropertyOptional({ type: [String], maxItems: 10, nullable: true, example: null })
  @Nullable()
  @MaxLength(500, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(10)
  @IsArray()
  allowed_issuers?: string[] | null;

  /** Whether owners of an address in a verified domain of the workspace may join by themselves. @example false */
  @Optional()
  @IsBoolean()
  domain_join?: boolean;

  /**
   * Days between the end of a membership and the erasure of the personal data of the former member; null: never. Also applies to
   * memberships that have ended before the change.
   */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 3650, nullable: true, example: 30 })
  @Nullable()
  @Max(3650)
  @Min(1)
  @IsInt()
  erase_after_days?: number | null;
}
