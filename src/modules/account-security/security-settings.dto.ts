import { ApiProperty } from '@nestjs/swagger';
import { IsString, Matches } from 'class-validator';
import { DATE_TIME, UUID } from '../../platform/field-docs/field-docs.js';
import { Flag, Optional, Text } from '../../platform/http/input.decorators.js';
import { type Scope, SCOPES } from './application-passwords/application-password-provider.js';
import { MAX_PASSWORD } from './model/guess-limits.js';

export class ChangePassword {
  @Text(MAX_PASSWORD, { example: 'correct horse battery staple' }) current_password!: string;
  /**
   * Any characters. Passwords that are easy to guess or known from a data breach are rejected.
   * @example "seven purple teapots dance"
   */
  @ApiProperty({ minLength: 12, maxLength: MAX_PASSWORD }) @IsString() new_password!: string;

  /**
   * An authenticator code. Required if the second factor is enabled and this session proved it more than ten minutes ago.
   * @example "492039"
   */
  @Optional()
  @Matches(/^\d{3}[ -]?\d{3}$/, { message: 'code must be the six digits of the authenticator' })
  code?: string;

  /** End all other sessions. */
  @Optional() @Flag() revoke_sessions: boolean = true;
  /** End all application passwords, in every workspace. */
  @Optional() @Flag() revoke_application_passwords: boolean = false;
}

export class SignOut {
  /** End all your sessions, not only this one. */
  @Optional() @Flag() everywhere: boolean = false;
}

export class PasswordChanged {
  @ApiProperty({ enum: [true], example: true }) changed!: true;
}

export class SignedOut {
  @ApiProperty({ enum: [true], example: true }) signed_out!: true;
  @ApiProperty({ type: 'integer', example: 1 }) sessions_ended!: number;
}

export class SessionEnded {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

export class TwoFactorState {
  /** @example true */ enabled!: boolean;
  @ApiProperty(DATE_TIME) since!: string | null;
  @ApiProperty({ type: 'integer', example: 10 }) recovery_codes_left!: number;
}

export class SessionState {
  @ApiProperty(UUID) id!: string;
  /** Whether the request belongs to this session. @example true */ current!: boolean;
  @ApiProperty(DATE_TIME) created_at!: string;
  /** Precise to the minute, up to a minute late. */
  @ApiProperty(DATE_TIME) last_seen!: string | null;
  @ApiProperty(DATE_TIME) expires_at!: string;
  /** The client that opened the session. @example "workspace-cli" */ client!: string;
  /** @example "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0" */ ua!: string | null;
  @ApiProperty({ example: '192.0.2.7' }) ip!: string | null;
  /** Whether the session proved the second factor. @example true */ second_factor!: boolean;
}

export class SecurityEventState {
  @ApiProperty(UUID) id!: string;
  /** @example "security.password_changed" */ action!: string;
  @ApiProperty(DATE_TIME) occurred_at!: Date;
  @ApiProperty({ example: '192.0.2.7' }) ip!: string | null;
}

export class SecurityState {
  /** Whether an external identity provider manages passwords and second factors. @example false */
  managed_externally!: boolean;
  two_factor!: TwoFactorState;
  /** Number of your passkeys; each is a second factor. @example 1 */
  @ApiProperty({ type: 'integer' }) passkeys!: number;
  /** Null when the password never changed. */
  @ApiProperty(DATE_TIME) password_changed_at!: string | null;
  /** Number of your application passwords in this workspace. @example 2 */
  @ApiProperty({ type: 'integer' }) application_passwords!: number;
  /** Protocols whose servers accept application passwords in this deployment; empty if there are none. */
  @ApiProperty({ enum: SCOPES, isArray: true, example: ['imap', 'smtp'] })
  application_password_protocols!: Scope[];
  /** The current session first, then by last use; at most 100. */
  sessions!: SessionState[];
  /** Recent events caused by you or about you; at most 20. */
  recent_events!: SecurityEventState[];
}
