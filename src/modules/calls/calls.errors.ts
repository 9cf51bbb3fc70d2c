import { EXAMPLE_ID } from '../../platform/field-docs/field-docs.js';
import { defineError } from '../../platform/http/api-error.js';
import { CallInProgressResponse } from './call.response.js';

export const CallErrors = {
  callNotFound: defineError(404, 'not_found', 'You have no such call.'),
  roomNotFound: defineError(404, 'not_found', 'You have no such room.'),
  userNotFound: defineError(404, 'not_found', 'A user is not a member of the workspace.'),
  guestNotFound: defineError(404, 'not_found', 'The call has no such guest.'),
  recordingNotFound: defineError(404, 'not_found', 'The call has no such recording.'),
  roomArchived: defineError(409, 'room_archived', 'The room is archived.'),
  callInProgress: defineError(409, 'call_in_progress', 'The room has another live call.', {
    example: { call_id: EXAMPLE_ID },
    type: CallInProgressResponse,
  }),
  callNotLive: defineError(409, 'call_not_live', 'The call is not live.'),
  recordingActive: defineError(409, 'recording_active', 'The call is being recorded already.'),
  recordingNotFinished: defineError(
    409,
    'recording_not_finished',
    'The recording has not finished: stop it first.',
  ),
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
  serverFaulty: defineError(
    502,
    'call_server_failed',
    'The media server for calls returned an invalid response.',
  ),
  recordingNotConfigured: defineError(
    503,
    'recording_not_configured',
    'This installation has no directory for recordings.',
  ),
} as const;
