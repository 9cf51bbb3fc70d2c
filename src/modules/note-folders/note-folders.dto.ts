import { IntersectionType, OmitType, PartialType } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { OneOf, Text, Visible } from '../../platform/http/input.decorators.js';
import { BaseRevision } from '../../platform/concurrency/base-revision.dto.js';
import { FolderFields } from '../../platform/resources/folder.dto.js';

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
