import { ApiProperty } from '@nestjs/swagger';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';

export class ProfileResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'alice@demo.example' }) email!: string;
  @ApiProperty({ example: 'Alice Martin', description: 'Under which the members of the workspace see you.' })
  display_name!: string;
  @ApiProperty({ example: 'Alice' }) given_name!: string;
  @ApiProperty({ example: 'Martin' }) family_name!: string;
  @ApiProperty({ example: 'Head of Research' }) title!: string;
  @ApiProperty({ example: '+49 30 901820' }) phone!: string;
  @ApiProperty({ type: String, nullable: true, example: 'Europe/Berlin' }) timezone!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'de-AT' }) locale!: string | null;
  @ApiProperty({ enum: ['owner', 'admin', 'member'], example: 'member' }) role!: string;
  @ApiProperty({ enum: ['active', 'deactivated'], example: 'active' }) status!: string;
  @ApiProperty({ format: 'date-time', example: TIME, description: 'Since when you belong to the workspace.' })
  created_at!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) updated_at!: string;
}

export class ProfileEnvelope {
  @ApiProperty({ type: ProfileResponse }) profile!: ProfileResponse;
}

export class DeactivatedProfileEnvelope extends ProfileEnvelope {
  @ApiProperty({ enum: [true], example: true }) deactivated!: true;
  @ApiProperty({
    example: true,
    description: 'Whether the account was closed too: it belonged to no other workspace.',
  })
  account_closed!: boolean;
}
