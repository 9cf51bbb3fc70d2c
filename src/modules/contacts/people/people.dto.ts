import { ApiProperty, IntersectionType, OmitType } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { CARD_VERSIONS, type CardVersion } from '../../../lib/vcard/index.js';
import { BaseRevision } from '../../../platform/concurrency/base-revision.dto.js';
import { UUID } from '../../../platform/field-docs/field-docs.js';
import { OneOf, Optional, Text } from '../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../../platform/paging/page.dto.js';
import { PRESENCE_STATUSES, type PresenceStatus } from '../../presence/index.js';
import { CardFieldsInput, EntryModels, PhoneCountry } from '../input/contact.dto.js';
import { ContactPhoneResponse } from '../responses/contact.response.js';

@EntryModels()
export class UpdateSelf extends IntersectionType(
  OmitType(CardFieldsInput, ['kind', 'members']),
  PhoneCountry,
  BaseRevision,
) {}

export class ListDirectory extends PageQuery {
  /** Beginnings of words of the name, title or address, or digits of a telephone number. */
  @IsOptional() @Text(200, { example: 'mar' }) q?: string;
  /** Only members of this department. */
  @IsOptional() @Text(1000, { example: 'Research' }) department?: string;
}

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

export class SelfCardQuery {
  /** Version of vCard. */
  @Optional() @OneOf(CARD_VERSIONS) version: CardVersion = '3.0';
  /** `false`: without the photo. */
  @Optional() @OneOf(['true', 'false']) photo: 'true' | 'false' = 'true';
}

export const QR_FORMATS = ['png', 'svg'] as const;

export class SelfCardQrQuery {
  /** Format of the picture. */
  @Optional() @OneOf(QR_FORMATS) format: (typeof QR_FORMATS)[number] = 'png';
}
