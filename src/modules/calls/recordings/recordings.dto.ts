import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDate, IsOptional, IsUUID } from 'class-validator';
import { Timestamp } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

export class ListRecordings extends PageQuery {
  static override readonly documentedErrors = PageQuery.documentedErrors;

  /** Only recordings that were started at this time or later. */
  @ApiPropertyOptional({ type: String, format: 'date-time' })
  @IsOptional()
  @Timestamp()
  @IsDate({ message: 'from must be a time in the format of RFC 3339' })
  from?: Date;

  /** Only recordings that were started before this time. */
  @ApiPropertyOptional({ type: String, format: 'date-time' })
  @IsOptional()
  @Timestamp()
  @IsDate({ message: 'to must be a time in the format of RFC 3339' })
  to?: Date;

  /** Only recordings of this call. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID()
  call_id?: string;
}

/** `call.recording.start` */
export class SocketStartRecording {
  @ApiProperty({ format: 'uuid', example: ID })
  @IsUUID()
  call_id!: string;
}

/** `call.recording.stop` */
export class SocketStopRecording extends SocketStartRecording {
  @ApiProperty({ format: 'uuid', example: ID })
  @IsUUID()
  recording_id!: string;
}
