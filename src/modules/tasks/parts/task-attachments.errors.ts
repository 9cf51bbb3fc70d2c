import { defineError } from '../../../platform/http/api-error.js';

export const TaskAttachmentErrors = {
  tooMany: defineError(422, 'too_many_attachments', 'A task has at most 50 attachments.'),
} as const;
