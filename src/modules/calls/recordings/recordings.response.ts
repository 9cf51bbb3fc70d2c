import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { RECORDING_STATES, type RecordingState } from '../calls.entity.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';
const OPTIONAL_TIME = { type: String, format: 'date-time', nullable: true, example: TIME } as const;

export class RecordingResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ format: 'uuid', example: ID }) call_id!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: ID }) room_id!: string | null;
  /** Title of the call. @example "Offsite 2027" */ title!: string;
  /** `processing`: the media server has finished and the file is being stored. Only `ready` has a file. */
  @ApiProperty({ enum: RECORDING_STATES, example: 'ready' }) state!: RecordingState;
  @ApiProperty({ format: 'uuid', example: ID }) requested_by!: string;
  @ApiProperty(OPTIONAL_TIME) started_at!: string | null;
  @ApiProperty(OPTIONAL_TIME) ended_at!: string | null;
  @ApiProperty({ type: 'integer', nullable: true, example: 1_800_000 }) duration_ms!: number | null;
  /** Bytes. */
  @ApiProperty({ type: 'integer', nullable: true, example: 73_400_320 }) size!: number | null;
  /** A limit of the media server ended the recording. */
  @ApiProperty({ example: false }) limit_reached!: boolean;
  /** Reason of a failure. */
  @ApiProperty({ type: String, nullable: true, example: null }) error!: string | null;
  /** The recording is deleted at this time. */
  @ApiProperty(OPTIONAL_TIME) expires_at!: string | null;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  /** Link to the file without a bearer token, as a signed address; null unless the state is `ready`. */
  @ApiProperty({ type: String, nullable: true, example: null }) url!: string | null;
  @ApiProperty({ ...OPTIONAL_TIME, example: null }) url_expires_at!: string | null;
}

export class RecordingEnvelope {
  recording!: RecordingResponse;
}

export class DeletedRecordingEnvelope extends RecordingEnvelope {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

/** `recording.deleted` */
export class RecordingDeletedResponse {
  @ApiProperty({ format: 'uuid', example: ID }) recording_id!: string;
  @ApiProperty({ format: 'uuid', example: ID }) call_id!: string;
}

export class RecordingListEnvelope extends PageEnvelope {
  recordings!: RecordingResponse[];
}
