import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsInt, IsOptional, IsString, IsUUID, Min, ValidateBy } from 'class-validator';
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
