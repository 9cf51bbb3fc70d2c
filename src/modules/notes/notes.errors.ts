import { defineError } from '../../platform/http/api-error.js';
import { DeletedErrorResponse } from '../../platform/http/error.response.js';
import { NoteConflictResponse } from './note.response.js';

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
