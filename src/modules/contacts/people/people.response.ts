import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { UUID } from '../../../platform/field-docs/field-docs.js';
import { PRESENCE_STATUSES, type PresenceStatus } from '../../presence/index.js';
import { ContactPhoneResponse } from '../responses/contact.response.js';

export class DirectoryPresenceResponse {
  @ApiProperty({ enum: PRESENCE_STATUSES, example: 'online' }) status!: PresenceStatus;
  @ApiProperty({ example: '' }) text!: string;
}

export class DirectoryUserResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Alice Martin" */ name!: string;
  /** @example "alice@demo.example" */ email!: string;
  /** @example "Head of Research" */ job_title!: string | null;
  /** @example "Research" */ department!: string | null;
  phones!: ContactPhoneResponse[];
  /** Path of the photo, which changes with the photo. */
  @ApiProperty({ format: 'uri-reference', example: null }) photo_url!: string | null;
  @ApiProperty({ type: DirectoryPresenceResponse, nullable: true, example: { status: 'online', text: '' } })
  presence!: DirectoryPresenceResponse | null;
}

export class DirectoryUsersEnvelope extends PageEnvelope {
  users!: DirectoryUserResponse[];
}
