import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.dto.js';
import { DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { CALL_KINDS, type CallKind } from '../calls.schema.js';

export class LiveMeetingResponse {
  @ApiProperty(UUID) call_id!: string;
  @ApiProperty(UUID) room_id!: string | null;
  /** @example "Offsite 2027" */ title!: string;
  @ApiProperty({ enum: CALL_KINDS, example: 'meeting' }) kind!: CallKind;
  @ApiProperty(DATE_TIME) started_at!: string;
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
