import { IsOptional } from 'class-validator';
import { Time, Uuid } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';

export class ListRecordings extends PageQuery {
  /** Only recordings that were started at this time or later. */
  @IsOptional() @Time({ message: 'from must be a time in the format of RFC 3339' }) from?: Date;
  /** Only recordings that were started before this time. */
  @IsOptional() @Time({ message: 'to must be a time in the format of RFC 3339' }) to?: Date;
  /** Only recordings of this call. */
  @IsOptional() @Uuid() call_id?: string;
}

/** `call.recording.start` */
export class SocketStartRecording {
  @Uuid({ example: EXAMPLE_ID }) call_id!: string;
}

/** `call.recording.stop` */
export class SocketStopRecording extends SocketStartRecording {
  @Uuid({ example: EXAMPLE_ID }) recording_id!: string;
}
