import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { Text, Time } from '../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../../platform/paging/page.dto.js';

export class ListExtracted extends PageQuery {
  /** Beginning of the address, or of a word of the address or name. */
  @IsOptional() @Text(200, { example: 'mar' }) q?: string;

  /** Only addresses used at or after this time. */
  @IsOptional()
  @Time({ message: 'since must be a time (RFC 3339)', example: '2026-01-01T00:00:00Z' })
  since?: Date;
}

export class RemoveExtracted {
  @Text(320, { example: 'maria@example.com' }) email!: string;
}

const ADDRESS_SOURCES = ['sent', 'received', 'calendar'] as const;
export type AddressSource = (typeof ADDRESS_SOURCES)[number];

export class ExtractedAddressResponse {
  /** @example "maria@example.com" */ email!: string;
  /** @example "Maria Silva" */ name!: string;
  /** Number of messages to and from the address, and of your events with it. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 3 }) count!: number;
  @ApiProperty(DATE_TIME) last_seen_at!: string;
  @ApiProperty({ enum: ADDRESS_SOURCES, isArray: true, example: ['sent'] }) sources!: AddressSource[];
  /** A contact with the address in one of your own address books. */
  @ApiProperty(UUID) contact_id!: string | null;
  @ApiProperty(UUID) addressbook_id!: string | null;
}

export class ExtractedAddressesEnvelope extends PageEnvelope {
  emails!: ExtractedAddressResponse[];
}

export class SuppressedAddressEnvelope {
  /** @example "maria@example.com" */ email!: string;
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}
