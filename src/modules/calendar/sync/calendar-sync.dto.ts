import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  Allow,
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { asInstance, EachAs, Nullable, Optional } from '../../../platform/http/input.decorators.js';

const MAX_CHANGES = 500;

/** A change that the client has made. */
export class SyncChange {
  @ApiProperty({ enum: ['upsert', 'delete'], example: 'upsert' })
  @IsIn(['upsert', 'delete'])
  op!: 'upsert' | 'delete';

  /** Returned with the result. The uid of a new event without one, so that a repeated request creates no second event. */
  @ApiPropertyOptional({ example: 'local-1' })
  @Optional()
  @Length(1, 200)
  @IsString()
  client_id?: string;

  /** Missing: a new event, or the one with the `uid`. */
  @ApiPropertyOptional({ example: '01890a5d-ac96-774b-bcce-b302099a8057' })
  @Optional()
  @Length(1, 100)
  @IsString()
  event_id?: string;

  /** The revision that the client changed. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 1 })
  @Allow()
  base_revision?: number;

  /** The fields of an event, also `scope` and `recurrence_id`. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: { title: 'Planning', start: '2026-03-02' },
  })
  @Optional()
  @IsObject()
  event?: object;
}

export class SyncCalendar {
  /** Of the last response; null: the client has nothing. */
  @ApiPropertyOptional({ type: String, nullable: true, example: null })
  @Nullable()
  @MaxLength(1000)
  @IsString()
  sync_token?: string | null;

  @ApiPropertyOptional({ type: [SyncChange], maxItems: MAX_CHANGES, example: [] })
  @Optional()
  @EachAs((entry) => asInstance(SyncChange, entry))
  @ValidateNested({ each: true })
  @ArrayMaxSize(MAX_CHANGES)
  @IsArray()
  changes?: SyncChange[];

  /** Changes in the response. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_CHANGES, default: 100 })
  @Optional()
  @Max(MAX_CHANGES)
  @Min(1)
  @IsInt()
  limit?: number;

  /**
   * Where the event has a newer revision than `base_revision`: `server` keeps it (the result has the event), `client`
   * overwrites it, `report` rejects the change with 409 and the event as `current`.
   */
  @ApiPropertyOptional({ enum: ['server', 'client', 'report'], default: 'server' })
  @Optional()
  @IsIn(['server', 'client', 'report'])
  conflict?: 'server' | 'client' | 'report';
}
