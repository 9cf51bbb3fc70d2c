import { EmailAddress } from '../../../platform/http/input.decorators.js';
import { ConfirmOwner } from '../model/confirm-owner.dto.js';
import { ApiProperty } from '@nestjs/swagger';

export class ChangeEmail extends ConfirmOwner {
  /** The new address. @example "alice@demo.example" */
  @EmailAddress() email!: string;
}

export class PendingEmail {
  @ApiProperty({ example: 'alice@new.example' }) email!: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-22T09:30:00.000Z' }) expires_at!: string;
}

export class EmailState {
  /** @example "alice@demo.example" */ email!: string;
  /** The address that is not confirmed yet. */
  @ApiProperty({ type: PendingEmail, nullable: true, example: null }) pending!: PendingEmail | null;
}
