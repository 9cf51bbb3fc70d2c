import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsNumber, IsOptional, IsString, IsUUID, Length, Matches } from 'class-validator';
import { MayBeAbsent, Nullable } from '../../platform/http/input.decorators.js';
import { PageQuery } from '../../platform/paging/page.dto.js';

const PARENT = 'parent_id must be the id of one of your note folders';
const MAX_NAME = 255;

class FolderPlace {
  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    nullable: true,
    example: null,
    description: 'The folder it lies in; null: at the top.',
  })
  @Nullable()
  @IsUUID('all', { message: PARENT })
  parent_id?: string | null;

  @ApiPropertyOptional({
    example: 1.5,
    description: 'Order among its siblings; any number, also between two others. Default: last.',
  })
  @MayBeAbsent()
  @IsNumber({ allowNaN: false, allowInfinity: false })
  position?: number;

  @ApiPropertyOptional({ type: String, nullable: true, example: '#2f80ed', description: 'As #rrggbb.' })
  @Nullable()
  @Matches(/^#[0-9a-f]{6}$/i, { message: 'color must be #rrggbb' })
  color?: string | null;
}

export class CreateNoteFolder extends FolderPlace {
  @ApiProperty({ minLength: 1, maxLength: MAX_NAME, example: 'Projects' })
  @Length(1, MAX_NAME)
  @IsString()
  name!: string;

  @ApiPropertyOptional({
    format: 'uuid',
    example: '01890a5d-ac96-774b-bcce-b302099a8057',
    description: 'Chosen by the client; any UUID.',
  })
  @MayBeAbsent()
  @IsUUID('all', { message: 'id must be a UUID' })
  id?: string;
}

export class UpdateNoteFolder extends FolderPlace {
  @ApiPropertyOptional({ minLength: 1, maxLength: MAX_NAME, example: 'Projects' })
  @MayBeAbsent()
  @Length(1, MAX_NAME)
  @IsString()
  name?: string;
}

export class ListNoteFolders extends PageQuery {
  @ApiPropertyOptional({
    example: 'none',
    description: 'Only folders in this one; `none` for those at the top.',
  })
  @IsOptional()
  @Matches(/^(?:none|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i, {
    message: 'parent_id must be the id of a note folder, or none',
  })
  parent_id?: string;
}

export class DeleteNoteFolder {
  @ApiPropertyOptional({
    enum: ['move_up', 'trash'],
    default: 'move_up',
    description:
      '`move_up`: notes and subfolders go to the parent. `trash`: your own notes in it and below go to the trash, the subfolders with it.',
  })
  @IsOptional()
  @IsIn(['move_up', 'trash'])
  contents: 'move_up' | 'trash' = 'move_up';
}
