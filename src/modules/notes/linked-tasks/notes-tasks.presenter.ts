import { revisionTag } from '../../../platform/concurrency/expected-revision.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import type { NoteTaskEnvelope } from './notes-tasks.response.js';

/** 201 `{ task, note }` with the ETag of the note and the location of the task. */
export const noteWithTask = (
  { id, revision, note }: { id: string; revision: number; note: string },
  { id: taskId, task }: { id: string; task: string },
): JsonReply<NoteTaskEnvelope> =>
  JsonReply.ofTexts<NoteTaskEnvelope>(
    { task, note },
    { status: 201, etag: revisionTag('note', id, revision), location: `/apis/v1/tasks/${taskId}` },
  );
