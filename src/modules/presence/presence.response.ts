import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../platform/paging/page.response.js';
import {
  PRESENCE_CHOICES,
  PRESENCE_STATUSES,
  type PresenceChoice,
  type PresenceStatus,
} from './presence.entity.js';

const TIME = '2026-11-21T09:30:00.000Z';

export class PresenceResponse {
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' }) user_id!: string;
  /** The best status of all devices. */
  @ApiProperty({ enum: PRESENCE_STATUSES, example: 'online' }) status!: PresenceStatus;
  /** Chosen by the user, also shown while the user is offline. @example "In a meeting" */ text!: string;
  /** Null before the first socket of the user. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: TIME })
  last_active_at!: string | null;
}

export class OwnPresenceResponse {
  /** `online`: other users see the status of your devices. */
  @ApiProperty({ enum: PRESENCE_CHOICES, example: 'dnd' }) status!: PresenceChoice;
  /** @example "In a meeting" */ text!: string;
  /** End of the status and the text. Null: no end. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: TIME }) until!: string | null;
}

export class PresenceEnvelope {
  presence!: PresenceResponse[];
  /** Time of the response. */
  @ApiProperty({ format: 'date-time', example: TIME }) as_of!: string;
}

export class PresenceListEnvelope extends PageEnvelope {
  presence!: PresenceResponse[];
  /** Time of the response. */
  @ApiProperty({ format: 'date-time', example: TIME }) as_of!: string;
}

export class OwnPresenceEnvelope {
  presence!: OwnPresenceResponse;
}
