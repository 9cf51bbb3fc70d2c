import { ApiProperty } from '@nestjs/swagger';
import { ArrayNotEmpty, IsArray, IsIn } from 'class-validator';
import { DATE_TIME, NO_DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { Distinct, IntegerFrom, Nullable, Text, Visible } from '../../../platform/http/input.decorators.js';
import { PageEnvelope } from '../../../platform/paging/page.dto.js';
import { type Scope, SCOPES } from './application-password-provider.js';

const TEN_YEARS = 10 * 366 * 86_400;

export class CreateApplicationPassword {
  @Visible() @Text(255, { minLength: 1, example: 'Thunderbird on the laptop' }) description!: string;

  /** Protocols that the program may use. Choose as few as possible. @example ["imap", "smtp"] */
  @ApiProperty({ enum: SCOPES, isArray: true })
  @Distinct()
  @IsIn(SCOPES, { each: true, message: `scopes must contain only ${SCOPES.join(', ')}` })
  @ArrayNotEmpty()
  @IsArray()
  scopes!: Scope[];

  /** Seconds until expiry. Default: no expiry. */
  @Nullable() @IntegerFrom(60, TEN_YEARS, { example: 2592000 }) ttl?: number | null;
}

/** An application password, without the secret and its hash. */
export class ApplicationPasswordResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Thunderbird on the laptop" */ description!: string;
  @ApiProperty({ enum: SCOPES, isArray: true, example: ['imap', 'smtp'] }) scopes!: Scope[];
  @ApiProperty(DATE_TIME) created_at!: Date;
  @ApiProperty(NO_DATE_TIME) expires_at!: Date | null;
  /** Precise to the minute. */
  @ApiProperty(DATE_TIME) last_used_at!: Date | null;
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
