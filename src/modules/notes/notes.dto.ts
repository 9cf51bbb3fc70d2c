import { ApiPropertyOptional, IntersectionType, PartialType } from '@nestjs/swagger';
import { Allow, ArrayMaxSize, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
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
import { PageQuery } from '../../platform/paging/page.dto.js';
import { EXAMPLE_ID } from '../../platform/field-docs/field-docs.js';

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
