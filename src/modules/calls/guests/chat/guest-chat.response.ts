import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';

export class GuestMessageSenderResponse {
  @ApiProperty({ enum: ['user', 'guest'], example: 'user' }) kind!: 'user' | 'guest';
  @ApiProperty({ type: String, nullable: true, example: 'Alice Martin' }) display_name!: string | null;
}

export class GuestAttachmentResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  /** @example "quote.pdf" */ name!: string;
  /** Bytes. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 48213 }) size!: number;
  /** @example "application/pdf" */ content_type!: string;
}

/** A message as guests see it. */
export class GuestMessageResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ type: 'integer', minimum: 1, example: 12 }) seq!: number;
  sender!: GuestMessageSenderResponse;
  /** Empty after deletion. @example "I am here." */ body!: string;
  @ApiProperty({ enum: ['plain', 'markdown'], example: 'plain' }) format!: 'plain' | 'markdown';
  @ApiProperty({ type: 'integer', nullable: true, example: null }) reply_to_seq!: number | null;
  @ApiProperty({ type: [GuestAttachmentResponse], example: [] }) attachments!: GuestAttachmentResponse[];
  /** In lists: whether the guest has sent it. */
  @ApiPropertyOptional({ example: true }) own?: boolean;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  edited_at!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  deleted_at!: string | null;
}

export class GuestMessageEnvelope {
  message!: GuestMessageResponse;
}

export class GuestMessageListEnvelope {
  /** In ascending order. */
  messages!: GuestMessageResponse[];
  @ApiProperty({ example: false }) has_more!: boolean;
}

export class GuestAttachmentEnvelope {
  attachment!: GuestAttachmentResponse;
}
