import { defineError } from '../../platform/http/api-error.js';

export const CallErrors = {
  callNotFound: defineError(404, 'not_found', 'You have no such call.'),
  callEnded: defineError(409, 'call_ended', 'The call has ended.'),
  callFull: defineError(409, 'call_full', 'The call has the maximum number of participants.'),
  serverNotConfigured: defineError(
    503,
    'call_server_not_configured',
    'This installation has no media server for calls.',
  ),
  serverUnavailable: defineError(
    503,
    'call_server_unavailable',
    'The media server for calls cannot be reached; retry shortly.',
  ),
  recordingNotConfigured: defineError(
    503,
    'recording_not_configured',
    'This installation has no directory for recordings.',
  ),
} as const;
