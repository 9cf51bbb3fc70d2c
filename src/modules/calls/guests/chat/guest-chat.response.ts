import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DATE_TIME, NO_DATE_TIME, UUID } from '../../../../platform/field-docs/field-docs.js';

export class GuestMessageSenderResponse {
  @ApiProperty({ enum: ['user', 'guest'], example: 'user' }) kind!: 'user' | 'guest';
  @ApiProperty({ example: 'Alice Martin' }) display_name!: string | null;
}

export class GuestAttachmentResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "quote.pdf" */ name!: string;
  /** Bytes. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 48213 }) size!: number;
  /** @example "application/pdf" */ content_type!: string;
}

/** A message as guests see it. */
export class GuestMessageResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'integer', minimum: 1, example: 12 }) seq!: number;
  sender!: GuestMessageSenderResponse;
  /** Name of the incoming webhook that has posted it; null: the sender has written it. */
  @ApiProperty({ type: String, nullable: true, example: null }) via!: string | null;
  /** Empty after deletion. @example "I am here." */ body!: string;
  @ApiProperty({ enum: ['plain', 'markdown'], example: 'plain' }) format!: 'plain' | 'markdown';
  @ApiProperty({ type: 'integer', example: null }) reply_to_seq!: number | null;
  @ApiProperty({ type: [GuestAttachmentResponse], example: [] }) attachments!: GuestAttachmentResponse[];
  /** In lists: whether the guest has sent it. */
  @ApiPropertyOptional({ example: true }) own?: boolean;
  @ApiProperty(DATE_TIME) created_at!: string;
  @ApiProperty(NO_DATE_TIME) edited_at!: string | null;
  @ApiProperty(NO_DATE_TIME) deleted_at!: string | null;
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
