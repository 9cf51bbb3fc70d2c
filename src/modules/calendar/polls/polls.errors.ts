import { defineError } from '../../../platform/http/api-error.js';

export const PollErrors = {
  pollNotFound: defineError(404, 'not_found', 'The poll does not exist, or you do not take part in it.'),
  pollClosed: defineError(409, 'poll_closed', 'The poll is closed, finalized or cancelled.'),
  alreadyFinalized: defineError(409, 'already_finalized', 'Another option of the poll has been chosen.'),
  unknownOption: defineError(422, 'unknown_option', 'The poll has no such option.'),
} as const;
