import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsInt, IsOptional, IsString, IsUUID, Min, ValidateBy } from 'class-validator';
import { DATE_TIME, NO_DATE_TIME, UUID } from '../../../../platform/field-docs/field-docs.js';
import { Distinct, IntegerFrom, Uuid, WholeNumber } from '../../../../platform/http/input.decorators.js';

/** Code points. */
const MAX_BODY = 4_000;
const MAX_ATTACHMENTS = 3;
const MAX_LIMIT = 100;

const CodePoints = (max: number): PropertyDecorator =>
  ValidateBy({
    name: 'maxLength',
    validator: {
      validate: (value) => typeof value === 'string' && (value.length <= max || [...value].length <= max),
      defaultMessage: () => `$property must be at most ${max} characters long`,
    },
  });

export class SendGuestMessage {
  /** A UUID of the client: a repeated request adds no second message. */
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toLowerCase() : value))
  @Uuid({ example: '0f3c1f0e-7a55-4c9b-9a41-2f6f0c1d2e3f' })
  client_msg_id!: string;

  /** May be empty if there are attachments. */
  @ApiPropertyOptional({ maxLength: MAX_BODY, default: '', example: 'I am here.' })
  @IsOptional()
  @CodePoints(MAX_BODY)
  @IsString()
  body: string = '';

  @ApiPropertyOptional({
    type: [String],
    format: 'uuid',
    maxItems: MAX_ATTACHMENTS,
    default: [],
    example: [],
  })
  @Distinct()
  @IsOptional()
  @ArrayMaxSize(MAX_ATTACHMENTS)
  @IsUUID(undefined, { each: true })
  @IsArray()
  attachment_ids: string[] = [];
}

const POSITION = { type: 'integer', minimum: 0, required: false } as const;

export class ListGuestMessages {
  @ApiProperty({ ...POSITION, description: 'The messages after this number, oldest first.' })
  @IsOptional()
  @WholeNumber()
  @Min(0)
  @IsInt()
  after_seq?: number;

  @ApiProperty({ ...POSITION, description: 'The messages before this number.' })
  @IsOptional()
  @WholeNumber()
  @Min(0)
  @IsInt()
  before_seq?: number;

  @IsOptional()
  @WholeNumber()
  @IntegerFrom(1, MAX_LIMIT, { required: false, description: 'Maximum number of messages.' })
  limit: number = 50;
}

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
