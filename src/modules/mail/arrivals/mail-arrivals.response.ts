import { ApiProperty } from '@nestjs/swagger';
import { DATE_TIME } from '../../../platform/field-docs/field-docs.js';

/** A mailbox in examples. */
export const EXAMPLE_MAILBOX = '6b0108e57d46ea6fe43d660f';

export class ReceivedMailAddressResponse {
  /** @example "Carol" */ name!: string;
  /** @example "carol@example.org" */ address!: string;
}

/** A mail without its body: `GET /mail/message` returns that. */
export class ReceivedMailResponse {
  /** Id within the mailbox. */ @ApiProperty({ type: 'integer', example: 12 }) id!: number;
  @ApiProperty({ example: EXAMPLE_MAILBOX }) mailbox!: string;
  from!: ReceivedMailAddressResponse;
  to!: ReceivedMailAddressResponse[];
  cc!: ReceivedMailAddressResponse[];
  /** @example "Plan ✓" */ subject!: string;
  /** The time that the sender has set; null: none. */
  @ApiProperty(DATE_TIME) date!: string | null;
  /** Number of attachments. */ @ApiProperty({ type: 'integer', minimum: 0, example: 1 })
  attachments!: number;
}
