import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.dto.js';
import { DATE_TIME } from '../../../platform/field-docs/field-docs.js';
import { PresenceResponse } from '../../presence/index.js';

export class RoomPresenceResponse extends PresenceResponse {
  /** The user has the room open on a device. */
  @ApiProperty({ example: true }) viewing!: boolean;
}

export class RoomPresenceEnvelope extends PageEnvelope {
  presence!: RoomPresenceResponse[];
  /** Time of the response. */
  @ApiProperty(DATE_TIME) as_of!: string;
}

export class OpenedRoomResponse {
  /** Number of the newest change of the room. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 14 }) mod_seq!: number;
  /** Members who are not offline, at most 200. */
  presence!: RoomPresenceResponse[];
}
