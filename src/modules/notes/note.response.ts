import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00.000Z';

export class NoteOwnerResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ type: String, nullable: true, example: 'Alice Martin' }) name!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'alice@example.com' }) email!: string | null;
}

export class NoteInvitedResponse {
  @ApiProperty({ format: 'uuid', example: ID }) user_id!: string;
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ type: String, nullable: true, example: 'bob@example.com' }) email!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'Bob Okafor' }) name!: string | null;
  @ApiProperty({ enum: ['editor', 'viewer'], example: 'viewer' }) role!: 'editor' | 'viewer';
  @ApiProperty({ format: 'date-time', example: TIME }) invited_at!: string;
}

/** A link that opens the note to signed-in members of the workspace. */
export class NoteShareResponse {
  @ApiProperty({
    example: `/apis/v1/notes/${ID}?share_token=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4`,
    description: 'Path on this server.',
  })
  url!: string;
  @ApiProperty({ example: 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4' }) token!: string;
  @ApiProperty({ enum: ['editor', 'viewer'], example: 'viewer' }) role!: 'editor' | 'viewer';
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null }) expires_at!:
    | string
    | null;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
}

export class NoteLinkResponse {
  @ApiProperty({ enum: ['task'], example: 'task' }) type!: 'task';
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'Book the rooms' }) title!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
}

/** A note as the caller sees it, without its content. */
@ApiExtraModels(NoteShareResponse)
export class NoteSummaryResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ example: 'Team offsite' }) title!: string;
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    example: 3,
    description: 'Send it back with every update and delete.',
  })
  revision!: number;
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    example: null,
    description: "The caller's own placement.",
  })
  folder_id!: string | null;
  @ApiProperty({ type: [String], example: ['planning'] }) labels!: string[];
  @ApiProperty({ type: [NoteLinkResponse] }) links!: NoteLinkResponse[];
  @ApiProperty({ type: [NoteInvitedResponse] }) invited!: NoteInvitedResponse[];
  @ApiProperty({ enum: ['owner', 'editor', 'viewer'], example: 'owner' }) role!:
    | 'owner'
    | 'editor'
    | 'viewer';
  @ApiProperty({ type: NoteOwnerResponse }) owner!: NoteOwnerResponse;
  @ApiProperty({
    description: 'The share link; null where there is none, and for everybody but the owner.',
    anyOf: [{ $ref: getSchemaPath(NoteShareResponse) }, { type: 'null' as 'object' }],
    example: null,
  })
  share!: NoteShareResponse | null;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) updated_at!: string;
  @ApiProperty({ format: 'uuid', example: ID, description: 'Who wrote the current revision.' })
  updated_by!: string;
  @ApiProperty({ example: false, description: 'True in the trash.' }) deleted!: boolean;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null }) deleted_at!:
    | string
    | null;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: null }) deleted_by!: string | null;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    example: null,
    description: 'When the trash will be emptied of it.',
  })
  purge_at!: string | null;
}

export class NoteResponse extends NoteSummaryResponse {
  @ApiProperty({ example: '<h1>Agenda</h1><p>Travel, <strong>rooms</strong>, budget</p>' }) content!: string;
}

export class NoteEnvelope {
  @ApiProperty({ type: NoteResponse }) note!: NoteResponse;
}

export class NoteWithRoleEnvelope extends NoteEnvelope {
  @ApiProperty({ enum: ['owner', 'editor', 'viewer'], example: 'owner' }) role!:
    | 'owner'
    | 'editor'
    | 'viewer';
}

export class PurgedNoteEnvelope extends NoteEnvelope {
  @ApiProperty({ enum: [true], example: true }) purged!: true;
}

export class NoteListItemResponse extends NoteSummaryResponse {
  @ApiProperty({
    required: false,
    example: '<p>Travel, rooms, budget</p>',
    description: 'Absent with `include=summary`.',
  })
  content?: string;
}

export class NoteListEnvelope {
  @ApiProperty({ type: [NoteListItemResponse] }) notes!: NoteListItemResponse[];
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The `cursor` of the next page; null on the last.',
  })
  next!: string | null;
}

export class NoteAuthorResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ type: String, nullable: true, example: 'Alice Martin' }) name!: string | null;
}

/** A revision without its body. */
export class NoteRevisionSummaryResponse {
  @ApiProperty({ type: 'integer', minimum: 1, example: 2 }) revision!: number;
  @ApiProperty({ example: 'Team offsite' }) title!: string;
  @ApiProperty({ type: [String], example: ['planning'] }) labels!: string[];
  @ApiProperty({ type: NoteAuthorResponse }) author!: NoteAuthorResponse;
  @ApiProperty({ type: String, nullable: true, example: 'alices-phone' }) device_id!: string | null;
  @ApiProperty({ type: 'integer', example: 412, description: 'Bytes of its content.' }) size!: number;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({
    isArray: true,
    enum: ['title', 'content', 'labels'],
    example: ['content'],
    description: 'What differs from the revision before.',
  })
  changed!: ('title' | 'content' | 'labels')[];
}

export class NoteRevisionResponse extends NoteRevisionSummaryResponse {
  @ApiProperty({ example: '<p>Travel, rooms</p>' }) content!: string;
}

export class NoteRevisionEnvelope {
  @ApiProperty({ type: NoteRevisionResponse }) revision!: NoteRevisionResponse;
}

export class NoteRevisionListEnvelope {
  @ApiProperty({ type: [NoteRevisionSummaryResponse] }) revisions!: NoteRevisionSummaryResponse[];
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The `cursor` of the next page; null on the last.',
  })
  next!: string | null;
}
