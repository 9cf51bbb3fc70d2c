import { ApiPropertyOptional } from '@nestjs/swagger';
import {
  Allow,
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsOptional,
  IsString,
  IsUUID,
  Length,
  Matches,
  MaxLength,
} from 'class-validator';
import {
  Distinct,
  MaxBytes,
  MayBeAbsent,
  Nullable,
  Repeatable,
} from '../../platform/http/input.decorators.js';
import { PageQuery } from '../../platform/paging/page.dto.js';

export const MAX_TITLE = 512;
export const MAX_CONTENT_BYTES = 2 * 1024 * 1024;
export const MAX_LABELS = 100;
export const MAX_LABEL = 100;
export const MAX_DEVICE_ID = 200;

const FOLDER_ID = 'folder_id must be the id of one of your note folders';

// Validators run from the property upwards: the type is checked first and the first problem is the one reported.

/** The fields of a note that a client writes. */
export class NoteFields {
  /**
   * At most 512 characters.
   * @example "Team offsite"
   */
  @MayBeAbsent()
  @MaxLength(MAX_TITLE)
  @IsString()
  title?: string;

  /**
   * HTML, at most 2 MiB. Kept as sent when it is harmless; what could run or load something is removed.
   * @example "<h1>Agenda</h1><p>Travel, <strong>rooms</strong>, budget</p>"
   */
  @MayBeAbsent()
  @MaxBytes(MAX_CONTENT_BYTES)
  @IsString()
  content?: string;

  /**
   * At most 100, each of 1 to 100 characters; repetitions are dropped.
   * @example ["planning", "2026"]
   */
  @MayBeAbsent()
  @Distinct()
  @Length(1, MAX_LABEL, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(MAX_LABELS)
  @IsArray()
  labels?: string[];

  /** One of your note folders; null for none. The placement is your own: others file the note where they like. */
  @ApiPropertyOptional({ type: String, format: 'uuid', nullable: true, example: null })
  @Nullable()
  @IsUUID('all', { message: FOLDER_ID })
  folder_id?: string | null;

  /**
   * Names the client in the history, at most 200 characters.
   * @example "alices-phone"
   */
  @MayBeAbsent()
  @MaxLength(MAX_DEVICE_ID)
  @IsString()
  device_id?: string;
}

export class CreateNote extends NoteFields {
  /** Chosen by the client, so that a note made offline keeps its id; any UUID. */
  @ApiPropertyOptional({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' })
  @MayBeAbsent()
  @IsUUID('all', { message: 'id must be a UUID' })
  id?: string;
}

export class UpdateNote extends NoteFields {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    example: 1,
    description: 'The revision you read; or send `If-Match`.',
  })
  @Allow()
  base_revision?: number;
}

export class DeleteNote {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    example: 1,
    description: 'The revision you read; or send `If-Match`.',
  })
  @Allow()
  base_revision?: number;
}

export class RestoreNote {
  /**
   * Names the client, at most 200 characters.
   * @example "alices-phone"
   */
  @MayBeAbsent()
  @MaxLength(MAX_DEVICE_ID)
  @IsString()
  device_id?: string;
}

export class ListNotes extends PageQuery {
  /** Only notes you have filed in this folder; `none` for those in no folder. */
  @ApiPropertyOptional({ example: 'none' })
  @IsOptional()
  @Matches(/^(?:none|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i, {
    message: 'folder_id must be the id of a note folder, or none',
  })
  folder_id?: string;

  /** Only notes with this label; repeat it to ask for several at once. */
  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', maxLength: MAX_LABEL },
    maxItems: 20,
    example: ['planning'],
  })
  @IsOptional()
  @Repeatable()
  @MaxLength(MAX_LABEL, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(20)
  label?: string[];

  /** Whether those in the trash are left out, meant or included. */
  @IsOptional()
  @IsIn(['active', 'trash', 'all'])
  state: 'active' | 'trash' | 'all' = 'active';

  /** `mine`: those you own. `shared`: those shared with you. */
  @IsOptional()
  @IsIn(['all', 'mine', 'shared'])
  scope: 'all' | 'mine' | 'shared' = 'all';

  /** What `order` is about. */
  @IsOptional()
  @IsIn(['updated_at', 'created_at', 'title'])
  sort: 'updated_at' | 'created_at' | 'title' = 'updated_at';

  /** Default: newest first, or A to Z by title. */
  @IsOptional()
  @IsIn(['asc', 'desc'])
  order?: 'asc' | 'desc';

  /** Only notes whose title contains this text, whatever the case. */
  @IsOptional()
  @Length(1, 256)
  @IsString()
  q?: string;

  /** `summary` leaves the content out. */
  @IsOptional()
  @IsIn(['content', 'summary'])
  include: 'content' | 'summary' = 'content';
}

/** A share link opens a note to members of the workspace who are not invited. */
export class ShareTokenQuery {
  /**
   * The token of a share link.
   * @example "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"
   */
  @MayBeAbsent()
  @Length(1, 200)
  @IsString()
  share_token?: string;
}
