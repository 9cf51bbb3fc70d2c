import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  Allow,
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsObject,
  IsString,
  Length,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { asInstance, EachAs, Optional } from '../../../platform/http/input.decorators.js';

export const MAX_OPERATIONS = 500;

/** A creation, a change or a deletion. The fields of `event` are those of the single request. */
export class BatchOperationFields {
  @ApiProperty({ enum: ['create', 'update', 'delete'], example: 'create' })
  @IsIn(['create', 'update', 'delete'])
  op!: 'create' | 'update' | 'delete';

  /** Returned with the result. */
  @ApiPropertyOptional({ example: 'local-1' })
  @Optional()
  @Length(1, 200)
  @IsString()
  client_id?: string;

  /** Needed to update and delete; the id of a new event otherwise. */
  @ApiPropertyOptional({ example: '01890a5d-ac96-774b-bcce-b302099a8057' })
  @Optional()
  @Length(1, 100)
  @IsString()
  event_id?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 1 })
  @Allow()
  base_revision?: number;

  @ApiPropertyOptional({ enum: ['this', 'this_and_following', 'all'], example: 'all' })
  @Allow()
  scope?: string;

  @ApiPropertyOptional({ type: String, example: '2026-03-09T09:00:00' })
  @Allow()
  recurrence_id?: unknown;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: { title: 'Planning', start: '2026-03-02' },
  })
  @Optional()
  @IsObject()
  event?: object;
}

/** `operations`, or `events` to create. */
export class BatchEvents {
  @ApiPropertyOptional({ type: [BatchOperationFields], maxItems: MAX_OPERATIONS })
  @ValidateIf(({ events }: BatchEvents, value) => value !== undefined || events === undefined)
  @EachAs((entry) => asInstance(BatchOperationFields, entry))
  @ValidateNested({ each: true })
  @ArrayMaxSize(MAX_OPERATIONS)
  @ArrayMinSize(1)
  @IsArray()
  operations?: BatchOperationFields[];

  /** Events to create, each as in the single request. */
  @ApiPropertyOptional({
    type: 'array',
    maxItems: MAX_OPERATIONS,
    items: { type: 'object', additionalProperties: true },
    example: [{ title: 'Planning', start: '2026-03-02' }],
  })
  @ValidateIf(({ operations }: BatchEvents, value) => value !== undefined || operations === undefined)
  @IsObject({ each: true })
  @ArrayMaxSize(MAX_OPERATIONS)
  @ArrayMinSize(1)
  @IsArray()
  events?: object[];

  /** True: all operations are applied, or none. */
  @ApiPropertyOptional({ default: false })
  @Optional()
  @IsBoolean()
  atomic?: boolean;
}
