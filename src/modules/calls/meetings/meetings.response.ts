import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { CALL_KINDS, type CallKind } from '../calls.entity.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

export class LiveMeetingResponse {
  @ApiProperty({ format: 'uuid', example: ID }) call_id!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: ID }) room_id!: string | null;
  /** @example "Offsite 2027" */ title!: string;
  @ApiProperty({ enum: CALL_KINDS, example: 'meeting' }) kind!: CallKind;
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' }) started_at!: string;
  /** Connected now. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 3 }) participants!: number;
  /** A guest is connected. */
  @ApiProperty({ example: false }) external!: boolean;
  /** New guests cannot join. */
  @ApiProperty({ example: false }) locked!: boolean;
  @ApiProperty({ enum: ['host', 'moderator', 'member'], example: 'member' }) role!: string;
  /** False for a full call. */
  @ApiProperty({ example: true }) can_join!: boolean;
}

export class LiveMeetingListEnvelope extends PageEnvelope {
  meetings!: LiveMeetingResponse[];
}
