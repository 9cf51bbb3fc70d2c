import { IntersectionType, OmitType, PartialType } from '@nestjs/swagger';
import { BaseRevision } from '../../platform/concurrency/base-revision.dto.js';
import { EXAMPLE_ID } from '../../platform/field-docs/field-docs.js';
import { Flag, Line, Nested, OneOf, Optional, Uuid, Visible } from '../../platform/http/input.decorators.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { ClientId } from '../../platform/resources/folder.dto.js';
import { TARGET_TYPES, type TargetType } from './incoming-webhook.entity.js';

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
