import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  IntersectionType,
  OmitType,
  PartialType,
} from '@nestjs/swagger';
import { Allow, ArrayMaxSize, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import {
  DATE_TIME,
  EXAMPLE_ID,
  NO_DATE_TIME,
  NO_UUID,
  orNull,
  UUID,
} from '../../platform/field-docs/field-docs.js';
import { DeletedErrorResponse, ErrorResponse } from '../../platform/http/error.response.js';
import { defineError } from '../../platform/http/errors.js';
import {
  AsLabels,
  Labels,
  MaxBytes,
  Nullable,
  OneOf,
  Optional,
  Repeatable,
  Text,
  Uuid,
  VisibleOrEmpty,
} from '../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../platform/paging/page.dto.js';
import { TaskResponse } from '../tasks/index.js';

const MAX_TITLE = 512;
export const MAX_CONTENT_BYTES = 2 * 1024 * 1024;
export const MAX_LABELS = 100;
const MAX_LABEL = 100;
const MAX_DEVICE_ID = 200;

const FOLDER_ID = 'folder_id must be the id of one of your note folders';

// Validators run from the property upwards: the type is checked first, and the first failure is reported.

/** Fields that every revision keeps. A new one is added to `NoteContent` and here (docs/add-a-field.md). */
export const VERSIONED_FIELDS = ['title', 'content', 'labels'] as const;

/** The versioned fields of a note. */
export class NoteContent {
  /** At most 512 characters; empty or with a visible one. */
  @VisibleOrEmpty()
  @Text(MAX_TITLE, { example: 'Team offsite' })
  title!: string;
  /**
   * HTML, at most 2 MiB. Harmless HTML is stored unchanged; scripts and references to other remote content than pictures are
   * removed. Ids, and the links to them, get the prefix `user-content-`. A picture of another server tells that server who reads it
   * when: load it after a question to the reader, or through a proxy.
   * @example "<h1>Agenda</h1><p>Travel, <strong>rooms</strong>, budget</p>"
   */
  @MaxBytes(MAX_CONTENT_BYTES) @IsString() content!: string;

  /** At most 100, each of 1 to 100 characters; stored composed (NFC), without blanks around them, each once. @example ["planning", "2026"] */
  @Labels(MAX_LABELS, MAX_LABEL)
  labels!: string[];
}

/** The device that writes. */
class DeviceFields {
  /** Names the client in the history and in change feeds, at most 200 characters. */
  @Optional() @VisibleOrEmpty() @Text(MAX_DEVICE_ID, { example: 'alices-phone' }) device_id?: string;
}

/** The fields of a note that a client writes; missing ones stay. */
export class NoteFields extends IntersectionType(
  PartialType(NoteContent, { skipNullProperties: false }),
  DeviceFields,
) {
  /** One of your note folders; null for none. The placement is your own: other members have theirs. */
  @Nullable() @Uuid({ message: FOLDER_ID, example: null }) folder_id?: string | null;
}

export class CreateNote extends NoteFields {
  /** Any UUID, so that a note created offline keeps its id. Default: a new one. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) id?: string;
}

const BASE_REVISION = {
  type: 'integer',
  minimum: 1,
  example: 1,
  description: 'The revision you read; or send `If-Match`.',
} as const;

export class UpdateNote extends NoteFields {
  @ApiPropertyOptional(BASE_REVISION) @Allow() base_revision?: number;
}

export class DeleteNote extends DeviceFields {
  @ApiPropertyOptional(BASE_REVISION) @Allow() base_revision?: number;
}

export class RestoreNote extends DeviceFields {}

export class ListNotes extends PageQuery {
  /** Only notes in this folder of yours; `none`: only notes in no folder. */
  @ApiPropertyOptional({ example: 'none' })
  @IsOptional()
  @Matches(/^(?:none|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i, {
    message: 'folder_id must be the id of a note folder, or none',
  })
  folder_id?: string;

  /** Only notes with this label; repeat the parameter to require several. */
  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', maxLength: MAX_LABEL },
    maxItems: 20,
    example: ['planning'],
  })
  @IsOptional()
  @AsLabels()
  @Repeatable()
  @MaxLength(MAX_LABEL, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(20)
  label?: string[];

  /** `active`: notes outside the trash. `trash`: notes in it. */
  @IsOptional() @OneOf(['active', 'trash', 'all']) state: 'active' | 'trash' | 'all' = 'active';
  /** `mine`: notes you own. `shared`: notes shared with you. */
  @IsOptional() @OneOf(['all', 'mine', 'shared']) scope: 'all' | 'mine' | 'shared' = 'all';

  /** Titles are compared without regard to case, numbers in them by value. */
  @IsOptional()
  @OneOf(['updated_at', 'created_at', 'title'])
  sort: 'updated_at' | 'created_at' | 'title' = 'updated_at';

  /** Default: newest first, or A to Z by title. */
  @IsOptional() @OneOf(['asc', 'desc']) order?: 'asc' | 'desc';
  /** Only notes whose title contains this text, regardless of case. */
  @IsOptional() @Text(256, { minLength: 1 }) q?: string;
  /** `summary` leaves the content out. */
  @IsOptional() @OneOf(['content', 'summary']) include: 'content' | 'summary' = 'content';
}

/** A share link opens a note to members of the workspace that are not invited. */
export class ShareTokenQuery {
  /** The token of a share link. */
  @Optional() @Text(200, { minLength: 1, example: 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4' }) share_token?: string;
}

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

export const NoteErrors = {
  notFound: defineError(404, 'not_found', 'There is no such note, or it is not shared with you.'),
  revisionNotFound: defineError(404, 'not_found', 'The note has no such revision.'),
  conflict: defineError(
    409,
    'conflict',
    'The note has changed since you read it; merge and retry with the revision in this response.',
    {
      example: {
        note_id: '01890a5d-ac96-774b-bcce-b302099a8057',
        revision: 4,
        title: 'Team offsite',
        content: '<p>Travel, rooms, budget</p>',
        updated_at: '2026-11-21T09:30:00.000Z',
        updated_by: '01890a5d-ac96-774b-bcce-b302099a8057',
      },
      type: NoteConflictResponse,
      headers: ['ETag'],
    },
  ),
  deleted: defineError(409, 'deleted', 'The note is in the trash; restore it first.', {
    example: { revision: 3, deleted_at: '2026-11-21T09:30:00.000Z' },
    type: DeletedErrorResponse,
  }),
  alreadyExists: defineError(
    409,
    'already_exists',
    'The id belongs to another note, or to one that has been purged.',
  ),
  notInTrash: defineError(409, 'not_in_trash', 'Only a note in the trash can be purged.'),
  notShared: defineError(404, 'not_shared', 'The note has no share link.'),
  unknownUser: defineError(
    422,
    'unknown_user',
    'The list contains users that are not active members of this workspace; see details.',
  ),
  tooManyLinks: defineError(422, 'too_many_links', 'A note links to at most 500 tasks.'),
  noChanges: defineError(422, 'no_changes', 'Every field in the request equals that of the note.'),
} as const;

export class NoteTaskEnvelope extends NoteEnvelope {
  @ApiProperty({ type: TaskResponse }) task!: TaskResponse;
}
