import { ApiExtraModels, ApiProperty, OmitType } from '@nestjs/swagger';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { PageEnvelope } from '../../platform/paging/page.response.js';
import { DATE_TIME, NO_DATE_TIME, NO_UUID, orNull, UUID } from '../../platform/field-docs/field-docs.js';
import { NoteContent, VERSIONED_FIELDS } from './notes.dto.js';

/** A user of the workspace. */
export class NoteAuthorResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Alice Martin" */ name!: string | null;
}

export class NoteOwnerResponse extends NoteAuthorResponse {
  /** @example "alice@example.com" */ email!: string | null;
}

export class NoteInvitedResponse extends NoteOwnerResponse {
  @ApiProperty(UUID) user_id!: string;
  /** @example "viewer" */ role!: 'editor' | 'viewer';
  @ApiProperty(DATE_TIME) invited_at!: string;
}

/** A link that opens the note to signed-in members of the workspace. It works while the owner is an active member. */
export class NoteShareResponse {
  /**
   * Path on this server.
   * @example "/apis/v1/notes/01890a5d-ac96-774b-bcce-b302099a8057?share_token=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"
   */
  url!: string;
  /** @example "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4" */ token!: string;
  /** @example "viewer" */ role!: 'editor' | 'viewer';
  @ApiProperty(NO_DATE_TIME) expires_at!: string | null;
  @ApiProperty(DATE_TIME) created_at!: string;
}

export class NoteLinkResponse {
  /** @example "task" */ type!: 'task';
  @ApiProperty(UUID) id!: string;
  /** Null where you cannot read the task. @example "Book the rooms" */ title!: string | null;
  @ApiProperty(DATE_TIME) created_at!: string;
}

/** A note as the caller sees it, without its content. */
@ApiExtraModels(NoteShareResponse)
export class NoteSummaryResponse extends OmitType(NoteContent, ['content'] as const) {
  @ApiProperty(UUID) id!: string;
  /**
   * Send it back with every update and delete. As long as `revision` and `updated_at` stay the same, so do title, content
   * and labels: a client keeps the content that it has.
   */
  @ApiProperty({ type: 'integer', minimum: 1, example: 3 }) revision!: number;
  /** The caller's own placement. */
  @ApiProperty(NO_UUID) folder_id!: string | null;
  links!: NoteLinkResponse[];
  invited!: NoteInvitedResponse[];
  /** @example "owner" */ role!: 'owner' | 'editor' | 'viewer';
  owner!: NoteOwnerResponse;
  /** The share link, for the owner; otherwise null. */
  @ApiProperty(orNull(NoteShareResponse)) share!: NoteShareResponse | null;
  @ApiProperty(DATE_TIME) created_at!: string;
  /** Time of the current revision. */
  @ApiProperty(DATE_TIME) updated_at!: string;
  /** Author of the current revision. */
  @ApiProperty(UUID) updated_by!: string;
  /**
   * The `device_id` of the write that last changed what you see of the note; null where it named none. In a change feed, a
   * client skips the records that name its own device.
   * @example "alices-phone"
   */
  updated_device!: string | null;
  /** True in the trash. @example false */ deleted!: boolean;
  @ApiProperty(NO_DATE_TIME) deleted_at!: string | null;
  @ApiProperty(NO_UUID) deleted_by!: string | null;
  /** Time at which the note is purged. */
  @ApiProperty(NO_DATE_TIME) purge_at!: string | null;
}

export class NoteResponse extends NoteSummaryResponse {
  /** @example "<h1>Agenda</h1><p>Travel, <strong>rooms</strong>, budget</p>" */ content!: string;
}

export class NoteListItemResponse extends NoteSummaryResponse {
  /** Missing with `include=summary`. @example "<p>Travel, rooms, budget</p>" */ content?: string;
}

export class NoteEnvelope {
  note!: NoteResponse;
}

export class NoteWithRoleEnvelope extends NoteEnvelope {
  /** @example "owner" */ role!: 'owner' | 'editor' | 'viewer';
}

export class PurgedNoteEnvelope extends NoteEnvelope {
  @ApiProperty({ enum: [true], example: true }) purged!: true;
}

export class NoteListEnvelope extends PageEnvelope {
  notes!: NoteListItemResponse[];
}

/** A revision without its content. */
export class NoteRevisionSummaryResponse extends OmitType(NoteContent, ['content'] as const) {
  @ApiProperty({ type: 'integer', minimum: 1, example: 2 }) revision!: number;
  author!: NoteAuthorResponse;
  /** @example "alices-phone" */ device_id!: string | null;
  /** Bytes of its content. */
  @ApiProperty({ type: 'integer', example: 412 }) size!: number;
  @ApiProperty(DATE_TIME) created_at!: string;
  /** Fields that differ from the revision before. */
  @ApiProperty({ isArray: true, enum: VERSIONED_FIELDS, example: ['content'] })
  changed!: (typeof VERSIONED_FIELDS)[number][];
}

export class NoteRevisionResponse extends NoteRevisionSummaryResponse {
  /** @example "<p>Travel, rooms</p>" */ content!: string;
}

export class NoteRevisionEnvelope {
  revision!: NoteRevisionResponse;
}

export class NoteRevisionListEnvelope extends PageEnvelope {
  revisions!: NoteRevisionSummaryResponse[];
}

/** 409 `conflict`: the current note, to merge with. */
export class NoteConflictResponse extends ErrorResponse {
  @ApiProperty({ enum: ['conflict'], example: 'conflict' }) override error!: 'conflict';
  @ApiProperty(UUID) note_id!: string;
  /** The revision to retry with. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 4 }) revision!: number;
  /** @example "Team offsite" */ title!: string;
  /** @example "<p>Travel, rooms, budget</p>" */ content!: string;
  @ApiProperty(DATE_TIME) updated_at!: string;
  /** Author of that revision. */
  @ApiProperty(UUID) updated_by!: string;
}
