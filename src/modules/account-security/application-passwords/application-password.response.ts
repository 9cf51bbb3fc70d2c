import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { type Scope, SCOPES } from './application-password-provider.js';
import type { ApplicationPasswordRow } from './application-passwords.repository.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';

export class ApplicationPasswordResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  /** @example "Thunderbird on the laptop" */ description!: string;
  @ApiProperty({ enum: SCOPES, isArray: true, example: ['imap', 'smtp'] }) scopes!: Scope[];
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  expires_at!: string | null;
  /** Precise to the minute. */
  @ApiProperty({ format: 'date-time', example: TIME }) last_used_at!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '192.0.2.7' }) last_used_ip!: string | null;
}

export class ApplicationPasswordEnvelope {
  application_password!: ApplicationPasswordResponse;
}

export class NewApplicationPasswordEnvelope extends ApplicationPasswordEnvelope {
  /** Sixteen letters; shown only now. @example "qmzvtkdpwhyrxcnb" */ password!: string;
}

export class ApplicationPasswordListEnvelope extends PageEnvelope {
  application_passwords!: ApplicationPasswordResponse[];
}

export class DeletedApplicationPassword {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

/** Presents an application password, without the secret and its hash. */
export function applicationPassword(row: ApplicationPasswordRow): ApplicationPasswordResponse {
  return {
    id: row.id,
    description: row.description,
    scopes: row.scopes,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    last_used_ip: row.last_used_ip,
  };
}
