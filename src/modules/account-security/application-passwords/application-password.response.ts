import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { DATE_TIME, NO_DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { type Scope, SCOPES } from './application-password-provider.js';
import type { ApplicationPasswordRow } from './application-passwords.repository.js';

export class ApplicationPasswordResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Thunderbird on the laptop" */ description!: string;
  @ApiProperty({ enum: SCOPES, isArray: true, example: ['imap', 'smtp'] }) scopes!: Scope[];
  @ApiProperty(DATE_TIME) created_at!: string;
  @ApiProperty(NO_DATE_TIME) expires_at!: string | null;
  /** Precise to the minute. */
  @ApiProperty(DATE_TIME) last_used_at!: string | null;
  @ApiProperty({ example: '192.0.2.7' }) last_used_ip!: string | null;
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
