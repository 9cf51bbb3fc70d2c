import { ApiProperty } from '@nestjs/swagger';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { DATE_TIME, EXAMPLE_ID, NO_DATE_TIME, UUID } from '../../platform/field-docs/field-docs.js';
import { CALL_KINDS, CALL_STATES, type CallKind, type CallState } from './calls.entity.js';

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
