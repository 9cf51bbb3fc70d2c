import { ApiProperty } from '@nestjs/swagger';
import { DATE_TIME, UUID } from '../../platform/field-docs/field-docs.js';

export class ProfileResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ example: 'alice@demo.example' }) email!: string;
  /** The name that members of the workspace see. @example "Alice Martin" */ display_name!: string;
  /** @example "Alice" */ given_name!: string;
  /** @example "Martin" */ family_name!: string;
  /** @example "Head of Research" */ title!: string;
  /** @example "+49 30 901820" */ phone!: string;
  /** @example "Europe/Berlin" */ timezone!: string | null;
  /** @example "de-AT" */ locale!: string | null;
  @ApiProperty({ enum: ['owner', 'admin', 'member'], example: 'member' }) role!: string;
  @ApiProperty({ enum: ['active', 'deactivated'], example: 'active' }) status!: string;
  /** Start of the membership. */ @ApiProperty(DATE_TIME)
  created_at!: string;
  @ApiProperty(DATE_TIME) updated_at!: string;
}

export class ProfileEnvelope {
  profile!: ProfileResponse;
}

export class DeactivatedProfileEnvelope extends ProfileEnvelope {
  @ApiProperty({ enum: [true], example: true }) deactivated!: true;
  /** Whether the account was closed, as it belonged to no other workspace. @example true */
  account_closed!: boolean;
}
