import { ApiProperty, IntersectionType, OmitType, PartialType } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { BaseRevision } from '../../platform/concurrency/base-revision.dto.js';
import { defineError } from '../../platform/http/errors.js';
import { OneOf, Text, Visible } from '../../platform/http/input.decorators.js';
import { FolderFields } from '../../platform/resources/folder.dto.js';
import { SyncedFields } from '../../platform/resources/item.response.js';
import { resource } from '../../platform/resources/resource.js';

export class CreateNoteFolder extends FolderFields {
  @Visible() @Text(255, { minLength: 1, example: 'Projects' }) name!: string;
}

export class UpdateNoteFolder extends IntersectionType(
  PartialType(OmitType(CreateNoteFolder, ['id']), { skipNullProperties: false }),
  BaseRevision,
) {}

export class DeleteNoteFolder {
  /**
   * `move_up`: notes and subfolders move to the parent. `trash`: your own notes in the folder and below go to the trash, and
   * the subfolders are deleted.
   */
  @IsOptional() @OneOf(['move_up', 'trash']) contents: 'move_up' | 'trash' = 'move_up';
}

export class NoteFolderResponse extends SyncedFields {
  /** @example "Projects" */ name!: string;
  /** Null at the top level. */
  @ApiProperty({ format: 'uuid', example: null }) parent_id!: string | null;
  /** @example 1 */ position!: number;
  /** @example "#2f80ed" */ color!: string | null;
  /** Notes in the folder, without the trash. Filing a note does not add its folder to the change feed. */
  @ApiProperty({ type: 'integer', example: 12 }) note_count!: number;
}

export const NOTE_FOLDERS = resource({
  tag: 'note folders',
  name: 'note folder',
  alias: ['folder', 'folders'],
  path: 'note_folders',
  item: NoteFolderResponse,
  notFound: 'You have no such folder.',
  revision: 'optional',
});

export const noChanges = defineError(422, 'no_changes', 'Nothing differs from the folder as it is.');
