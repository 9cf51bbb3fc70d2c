import { ApiProperty } from '@nestjs/swagger';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';

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
  @ApiProperty({ example: true }) enabled!: boolean;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: TIME }) since!: string | null;
  @ApiProperty({ type: 'integer', example: 10 }) recovery_codes_left!: number;
}

export class SessionState {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ description: 'The one that asks.', example: true }) current!: boolean;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    example: TIME,
    description: 'To the minute, and up to a minute late.',
  })
  last_seen!: string | null;
  @ApiProperty({ format: 'date-time', example: TIME }) expires_at!: string;
  @ApiProperty({ example: 'workspace-cli', description: 'The program it was opened with.' }) client!: string;
  @ApiProperty({ type: String, nullable: true, example: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0' })
  ua!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '192.0.2.7' }) ip!: string | null;
  @ApiProperty({ example: true, description: 'The second factor has been proven in it.' })
  second_factor!: boolean;
}

export class SecurityEventState {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'security.password_changed' }) action!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) occurred_at!: string;
  @ApiProperty({ type: String, nullable: true, example: '192.0.2.7' }) ip!: string | null;
}

export class SecurityState {
  @ApiProperty({
    example: false,
    description: 'Passwords and second factors are another service’s business.',
  })
  managed_externally!: boolean;
  @ApiProperty({ type: TwoFactorState }) two_factor!: TwoFactorState;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    example: TIME,
    description: 'Null: never since the account was made.',
  })
  password_changed_at!: string | null;
  @ApiProperty({ type: 'integer', example: 2, description: 'How many you have in this workspace.' })
  application_passwords!: number;
  @ApiProperty({ type: [SessionState], description: 'This one first, then by last use; at most 100.' })
  sessions!: SessionState[];
  @ApiProperty({
    type: [SecurityEventState],
    description: 'The latest of what you did, and of what was done to you; at most 20.',
  })
  recent_events!: SecurityEventState[];
}
