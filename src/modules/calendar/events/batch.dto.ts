import { ApiPropertyOptional } from '@nestjs/swagger';
import { Allow, ArrayMaxSize, ArrayMinSize, IsArray, IsObject, ValidateIf } from 'class-validator';
import { Entries, Flag, OneOf, Optional } from '../../../platform/http/input.decorators.js';
import { ClientChangeFields } from '../input/client-change.dto.js';

const MAX_OPERATIONS = 500;

/** A creation, a change or a deletion. The fields of `event` are those of the single request. */
export class BatchOperationFields extends ClientChangeFields {
  @OneOf(['create', 'update', 'delete'], { example: 'create' }) op!: 'create' | 'update' | 'delete';

  @ApiPropertyOptional({ enum: ['this', 'this_and_following', 'all'], example: 'all' })
  @Allow()
  scope?: string;

  @ApiPropertyOptional({ type: String, example: '2026-03-09T09:00:00' }) @Allow() recurrence_id?: unknown;
}

/** `operations`, or `events` to create. */
export class BatchEvents {
  @ValidateIf(({ events }: BatchEvents, value) => value !== undefined || events === undefined)
  @Entries(BatchOperationFields, MAX_OPERATIONS, { minItems: 1 })
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
  @Optional() @Flag({ default: false }) atomic?: boolean;
}
