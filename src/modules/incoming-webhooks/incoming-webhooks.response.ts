import { ApiProperty } from '@nestjs/swagger';
import { NO_DATE_TIME, UUID } from '../../platform/field-docs/field-docs.js';
import { RevisionedFields } from '../../platform/resources/item.response.js';
import { type IncomingWebhook, TARGET_TYPES, type TargetType } from './incoming-webhook.entity.js';

export class IncomingWebhookTargetResponse {
  @ApiProperty({ enum: TARGET_TYPES, example: 'room' }) type!: TargetType;
  @ApiProperty(UUID) id!: string;
}

export class IncomingWebhookResponse extends RevisionedFields {
  /** Messages, tasks and events are made with the rights of this member. */
  @ApiProperty(UUID) owner_id!: string;
  /** @example "Build server" */ name!: string;
  target!: IncomingWebhookTargetResponse;
  /** @example true */ active!: boolean;
  /** Only in the responses that create or replace the address; otherwise null. */
  @ApiProperty({
    example:
      'https://demo.example/apis/v1/hooks/AYkKXayWd0u8zrMCCZqAV2Zvb2JhcmJhenF1eGZvb2JhcmJhenF1eGZvb2JhcmJh',
  })
  url!: string | null;
  /** To the minute. */
  @ApiProperty(NO_DATE_TIME) last_used_at!: string | null;
}

/** @param url in the response that creates or replaces it */
export const presentIncomingWebhook = (
  row: IncomingWebhook,
  url: string | null = null,
): IncomingWebhookResponse => ({
  id: row.id,
  revision: row.revision,
  owner_id: row.owner_id,
  name: row.name,
  target: { type: row.target_type, id: row.target_id },
  active: row.active,
  url,
  last_used_at: row.last_used_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
