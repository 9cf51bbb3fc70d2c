import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { DATE_TIME, EXAMPLE_ID, NO_DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { Time, Uuid } from '../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../../platform/paging/page.dto.js';
import { RECORDING_STATES, type RecordingState } from '../calls.schema.js';

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

export class RecordingResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(UUID) call_id!: string;
  @ApiProperty(UUID) room_id!: string | null;
  /** Title of the call. @example "Offsite 2027" */ title!: string;
  /** `processing`: the media server has finished and the file is being stored. Only `ready` has a file. */
  @ApiProperty({ enum: RECORDING_STATES, example: 'ready' }) state!: RecordingState;
  @ApiProperty(UUID) requested_by!: string;
  @ApiProperty(DATE_TIME) started_at!: string | null;
  @ApiProperty(DATE_TIME) ended_at!: string | null;
  @ApiProperty({ type: 'integer', example: 1_800_000 }) duration_ms!: number | null;
  /** Bytes. */
  @ApiProperty({ type: 'integer', example: 73_400_320 }) size!: number | null;
  /** A limit of the media server ended the recording. */
  @ApiProperty({ example: false }) limit_reached!: boolean;
  /** Reason of a failure. */
  @ApiProperty({ example: null }) error!: string | null;
  /** The recording is deleted at this time. */
  @ApiProperty(DATE_TIME) expires_at!: string | null;
  @ApiProperty(DATE_TIME) created_at!: string;
  /** Link to the file without a bearer token, as a signed address; null unless the state is `ready`. */
  @ApiProperty({ example: null }) url!: string | null;
  @ApiProperty(NO_DATE_TIME) url_expires_at!: string | null;
}

export class RecordingEnvelope {
  recording!: RecordingResponse;
}

export class DeletedRecordingEnvelope extends RecordingEnvelope {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

/** `recording.deleted` */
export class RecordingDeletedResponse {
  @ApiProperty(UUID) recording_id!: string;
  @ApiProperty(UUID) call_id!: string;
}

export class RecordingListEnvelope extends PageEnvelope {
  recordings!: RecordingResponse[];
}
