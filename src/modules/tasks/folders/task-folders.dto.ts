import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsNumber,
  IsOptional,
  IsString,
  IsUUID,
  Matches,
  MaxLength,
  ValidateNested,
} from 'class-validator';
import { asPerson, EachAs, MayBeAbsent, Nullable } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { LowerCase, NotBlank, NamedPerson } from '../task-fields.dto.js';

export const MAX_FOLDER_MEMBERS = 100;
const MAX_NAME = 255;
const ROLES = ['editor', 'viewer'] as const;
const NAME = { minLength: 1, maxLength: MAX_NAME, example: 'Offsite' };

/** Somebody to share a folder with. */
export class FolderMember extends NamedPerson {
  @ApiPropertyOptional({
    enum: ROLES,
    default: 'editor',
    description: 'editor: makes and changes tasks in it. viewer: reads them, and comments.',
  })
  @MayBeAbsent()
  @IsIn(ROLES)
  @LowerCase()
  role: (typeof ROLES)[number] = 'editor';
}

@ApiExtraModels(FolderMember)
class FolderFields {
  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    nullable: true,
    example: null,
    description: 'One of your own folders; null: at the top.',
  })
  @Nullable()
  @IsUUID('all', { message: 'parent_id must be the id of one of your task folders' })
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

  @ApiPropertyOptional({
    type: 'array',
    maxItems: MAX_FOLDER_MEMBERS,
    items: { anyOf: [{ $ref: getSchemaPath(FolderMember) }, { type: 'string' }] },
    example: [{ email: 'bob@demo.example', role: 'editor' }],
    description:
      'Everybody who is to see the folder, those below it and the tasks in them, besides its owner; the whole list. A bare string is an id or an address. A member may leave: give the list without themselves.',
  })
  @MayBeAbsent()
  @ValidateNested({ each: true, message: 'each entry of members must be an object, an id or an address' })
  @EachAs((entry) => asPerson(FolderMember, entry))
  @ArrayMaxSize(MAX_FOLDER_MEMBERS)
  @IsArray()
  members?: FolderMember[];
}

export class CreateTaskFolder extends FolderFields {
  @ApiProperty(NAME)
  @MaxLength(MAX_NAME)
  @NotBlank()
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

export class UpdateTaskFolder extends FolderFields {
  @ApiPropertyOptional(NAME)
  @MayBeAbsent()
  @MaxLength(MAX_NAME)
  @NotBlank()
  @IsString()
  name?: string;
}

export class ListTaskFolders extends PageQuery {
  @ApiPropertyOptional({
    example: 'none',
    description: 'Only folders in this one; `none` for those that lie in none you see.',
  })
  @IsOptional()
  @Matches(/^(?:none|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i, {
    message: 'parent_id must be the id of a task folder, or none',
  })
  parent_id?: string;
}

export class DeleteTaskFolder {
  @ApiPropertyOptional({
    enum: ['keep', 'delete'],
    default: 'keep',
    description:
      '`keep`: its tasks stay, in no folder, and its subfolders move up. `delete`: your own tasks in it and below go to the trash, the subfolders with it; tasks of others stay.',
  })
  @IsOptional()
  @IsIn(['keep', 'delete'])
  contents: 'keep' | 'delete' = 'keep';
}
