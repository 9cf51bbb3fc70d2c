import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  getSchemaPath,
  IntersectionType,
  OmitType,
  PartialType,
} from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsOptional, IsString, MaxLength, ValidateNested } from 'class-validator';
import { BaseRevision } from '../../../platform/concurrency/base-revision.dto.js';
import {
  asNamedUser,
  EachAs,
  Flag,
  OneOf,
  Optional,
  Visible,
} from '../../../platform/http/input.decorators.js';
import { FolderFields } from '../../../platform/resources/folder.dto.js';
import { LowerCase, NamedUser } from '../task-fields.dto.js';

const MAX_FOLDER_MEMBERS = 100;
const ROLES = ['editor', 'viewer'] as const;

/** A user to share a folder with. */
export class FolderMember extends NamedUser {
  /** `editor`: creates and changes tasks in it. `viewer`: reads them and comments. */
  @Optional() @LowerCase() @OneOf(ROLES) role: (typeof ROLES)[number] = 'editor';
  /**
   * As in responses. An entry with `true` is ignored: the user is a member of a folder above. An entry with `false` and the role of
   * the response keeps the role that the user has in this folder, which may be lower.
   */
  @Optional() @Flag({ example: false }) inherited?: boolean;
}

@ApiExtraModels(FolderMember)
export class CreateTaskFolder extends FolderFields {
  @ApiProperty({ minLength: 1, maxLength: 255, example: 'Offsite' })
  @MaxLength(255)
  @Visible()
  @IsString()
  name!: string;

  /**
   * All users, besides the owner, who see the folder, the folders below it and the tasks in them. A bare string is an id or an
   * address. A member leaves the folder with a list that contains all other members.
   */
  @ApiPropertyOptional({
    type: 'array',
    maxItems: MAX_FOLDER_MEMBERS,
    items: { anyOf: [{ $ref: getSchemaPath(FolderMember) }, { type: 'string' }] },
    example: [{ email: 'bob@demo.example', role: 'editor' }],
  })
  @Optional()
  @ValidateNested({ each: true, message: 'each entry of members must be an object, an id or an address' })
  @EachAs((entry) => asNamedUser(FolderMember, entry), MAX_FOLDER_MEMBERS)
  @ArrayMaxSize(MAX_FOLDER_MEMBERS)
  @IsArray()
  members?: FolderMember[];
}

export class UpdateTaskFolder extends IntersectionType(
  PartialType(OmitType(CreateTaskFolder, ['id']), { skipNullProperties: false }),
  BaseRevision,
) {}

export class DeleteTaskFolder {
  /**
   * `keep`: the tasks stay, without a folder, and subfolders move up. `delete`: your own tasks in the folder and below go to the
   * trash, and the subfolders are deleted; tasks of other users stay.
   */
  @IsOptional() @OneOf(['keep', 'delete']) contents: 'keep' | 'delete' = 'keep';
}
