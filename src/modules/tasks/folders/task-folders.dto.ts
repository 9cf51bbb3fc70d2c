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
import { defineError } from '../../../platform/http/errors.js';
import {
  asNamedUser,
  EachAs,
  Flag,
  OneOf,
  Optional,
  Visible,
} from '../../../platform/http/input.decorators.js';
import { FolderFields } from '../../../platform/resources/folder.dto.js';
import { SyncedFields } from '../../../platform/resources/item.response.js';
import { resource } from '../../../platform/resources/resource.js';
import { LowerCase, NamedUser } from '../task-fields.dto.js';
import { TaskPersonResponse } from '../tasks.dto.js';

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

export class TaskFolderMemberResponse extends TaskPersonResponse {
  /** @example "01890a5d-ac96-774b-bcce-b302099a8057" */
  @ApiProperty({ format: 'uuid' }) user_id!: string;
  @ApiProperty({ enum: ['editor', 'viewer'], example: 'editor' }) role!: 'editor' | 'viewer';
  /** The user sees the folder as a member of a folder above it. @example false */ inherited!: boolean;
}

/** A task folder as the caller sees it. */
export class TaskFolderResponse extends SyncedFields {
  /** @example "Offsite" */ name!: string;
  /** Null at the top level, and where you do not see the folder above. */
  @ApiProperty({ format: 'uuid', example: null }) parent_id!: string | null;
  /** @example 1 */ position!: number;
  /** @example "#2f80ed" */ color!: string | null;
  /** Tasks in the folder, without the trash. */
  @ApiProperty({ type: 'integer', example: 12 }) task_count!: number;
  @ApiProperty({ enum: ['owner', 'editor', 'viewer'], example: 'owner' })
  role!: 'owner' | 'editor' | 'viewer';
  owner!: TaskPersonResponse;
  members!: TaskFolderMemberResponse[];
}

export const TASK_FOLDERS = resource({
  tag: 'task folders',
  name: 'task folder',
  alias: ['folder', 'folders'],
  path: 'task_folders',
  item: TaskFolderResponse,
  notFound: 'The folder does not exist or is not shared with you.',
  revision: 'optional',
});

export const folderTooLarge = defineError(
  422,
  'folder_too_large',
  'Too many tasks for sharing with so many users at once; add users in smaller groups.',
);
