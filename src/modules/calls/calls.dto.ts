import { ApiProperty } from '@nestjs/swagger';
import { DATE_TIME, EXAMPLE_ID, NO_DATE_TIME, UUID } from '../../platform/field-docs/field-docs.js';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { defineError } from '../../platform/http/errors.js';
import { CALL_KINDS, CALL_STATES, type CallKind, type CallState } from './calls.schema.js';

export class CallSettingsResponse {
  /** Guests wait for approval. */
  @ApiProperty({ example: true }) lobby!: boolean;
  /** Guests prove their address by a code. */
  @ApiProperty({ example: true }) otp!: boolean;
  /** Guests may use the chat. */
  @ApiProperty({ example: true }) guest_chat!: boolean;
  /** The recording starts with the first participant. */
  @ApiProperty({ example: false }) auto_record!: boolean;
}

export class CallResponse {
  @ApiProperty(UUID) id!: string;
  /** The same as `id`. */
  @ApiProperty(UUID) call_id!: string;
  /** The chat room whose members may join; null for a call with members of its own. */
  @ApiProperty(UUID) room_id!: string | null;
  /** @example "Offsite 2027" */ title!: string;
  @ApiProperty({ enum: CALL_KINDS, example: 'meeting' }) kind!: CallKind;
  @ApiProperty({ enum: CALL_STATES, example: 'live' }) state!: CallState;
  @ApiProperty(UUID) host_id!: string;
  /** New guests cannot join. */
  @ApiProperty({ example: false }) external_locked!: boolean;
  settings!: CallSettingsResponse;
  /** Connected now. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 3 }) participants!: number;
  /** The call is being recorded. */
  @ApiProperty({ example: false }) recording!: boolean;
  @ApiProperty(NO_DATE_TIME) scheduled_at!: string | null;
  @ApiProperty(DATE_TIME) started_at!: string | null;
  @ApiProperty(NO_DATE_TIME) ended_at!: string | null;
  @ApiProperty(DATE_TIME) created_at!: string;
  /** Where members mint a token to join. */
  @ApiProperty({ example: `/apis/v1/call/tokens/${EXAMPLE_ID}/mint` }) url!: string;
}

export class CallEnvelope {
  call!: CallResponse;
}

export class CallRoomEnvelope {
  room!: CallResponse;
}

/** 409 `call_in_progress`. */
export class CallInProgressResponse extends ErrorResponse {
  @ApiProperty({ enum: ['call_in_progress'], example: 'call_in_progress' })
  override error!: 'call_in_progress';
  /** The live call of the room. */
  @ApiProperty(UUID) call_id!: string;
}

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
