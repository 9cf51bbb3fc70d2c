import { ApiProperty, IntersectionType, OmitType, PartialType } from '@nestjs/swagger';
import { BaseRevision } from '../../platform/concurrency/base-revision.dto.js';
import { EXAMPLE_ID, NO_DATE_TIME, UUID } from '../../platform/field-docs/field-docs.js';
import { defineError } from '../../platform/http/errors.js';
import { Flag, Line, Nested, OneOf, Optional, Uuid, Visible } from '../../platform/http/input.decorators.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { ClientId } from '../../platform/resources/folder.dto.js';
import { RevisionedFields } from '../../platform/resources/item.response.js';
import { resource } from '../../platform/resources/resource.js';
import { type IncomingWebhook, TARGET_TYPES, type TargetType } from './incoming-webhooks.schema.js';

const MAX_NAME = 80;

/** What the address makes: messages in a chat room, tasks in a task folder, or events in a calendar. */
export class IncomingWebhookTargetInput {
  @OneOf(TARGET_TYPES, { example: 'room' }) type!: TargetType;
  /** A room that you are a member of, a task folder or a calendar that you may write to. */
  @Uuid({ example: EXAMPLE_ID }) id!: string;
}

export class CreateIncomingWebhook extends ClientId {
  /** Named in everything that the address makes. */
  @Visible() @Line(MAX_NAME, { example: 'Build server' }) name!: string;
  @Nested(IncomingWebhookTargetInput) target!: IncomingWebhookTargetInput;
  /** Default: true. */
  @Optional() @Flag({ example: true }) active?: boolean;
}

export class UpdateIncomingWebhook extends IntersectionType(
  PartialType(OmitType(CreateIncomingWebhook, ['id']), { skipNullProperties: false }),
  BaseRevision,
) {}

export class ListIncomingWebhooks extends PageQuery {
  /** Only addresses for targets of this type. */
  @Optional() @OneOf(TARGET_TYPES) target_type?: TargetType;
}

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

export const INCOMING_WEBHOOKS = resource({
  tag: 'webhooks',
  name: 'incoming webhook',
  path: 'incoming-webhooks',
  item: IncomingWebhookResponse,
  notFound: 'You have no such incoming webhook.',
  revision: 'required',
});

export const IncomingWebhookErrors = {
  alreadyExists: defineError(409, 'already_exists', 'This id is taken.'),
  noChanges: defineError(422, 'no_changes', 'Nothing differs from the incoming webhook as it is.'),
  notOwner: defineError(
    403,
    'not_owner',
    'Only its owner may do this: it writes with the rights of its owner. You may deactivate or delete it.',
  ),
  addressNotFound: defineError(
    404,
    'not_found',
    'The address is unknown or inactive, or its owner may not write to its target.',
  ),
} as const;
