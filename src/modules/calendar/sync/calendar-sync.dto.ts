import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsString,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { asInstance, EachAs, Nullable, Optional } from '../../../platform/http/input.decorators.js';
import { ClientChangeFields } from '../input/client-change.dto.js';

const MAX_CHANGES = 500;

/** A change that the client has made. */
export class SyncChange extends ClientChangeFields {
  @ApiProperty({ enum: ['upsert', 'delete'], example: 'upsert' })
  @IsIn(['upsert', 'delete'])
  op!: 'upsert' | 'delete';
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
