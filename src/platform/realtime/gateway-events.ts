import { ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { DATE_TIME } from '../field-docs/field-docs.js';
import { defineClientEvent, defineServerEvent } from './event-declarations.js';

class HelloEvent {
  /** Id of the socket. */
  @ApiProperty({ example: 'k3Jx9zWcQ0aPmT5YAAAB' })
  conn_id!: string;
  @ApiProperty(DATE_TIME) server_time!: string;
  /** Milliseconds between two pings of the server. */
  @ApiProperty({ type: 'integer', example: 25_000 })
  heartbeat!: number;
}

class ResyncEvent {
  @ApiProperty({ enum: [true], example: true }) all!: true;
}

class AuthExpiringEvent {
  /** Seconds until the socket closes unless the client refreshes it. */
  @ApiProperty({ type: 'integer', example: 120 })
  in!: number;
}

const CLOSING_REASONS = ['access_changed', 'restart', 'expired', 'flood'] as const;
export type ClosingReason = (typeof CLOSING_REASONS)[number];

class SessionClosingEvent {
  @ApiProperty({ enum: CLOSING_REASONS, example: 'restart' }) reason!: ClosingReason;
}

class ChangedEvent {
  /** Name of the collection, as in `GET /sync/state`. */
  @ApiProperty({ example: 'notes' })
  collection!: string;
  /** Newest number of the feed. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 42 })
  head!: number;
}

/** `auth.refresh` */
class RefreshSocket {
  /** Another socket token of the same session. */
  @ApiProperty({ example: 'AYkKXayWd0u8zrMCCZqAVw' + 'x'.repeat(42) })
  @IsString()
  token!: string;
}

export class RefreshedResponse {
  /** End of the socket unless it is refreshed again. */
  @ApiProperty(DATE_TIME) expires_at!: string;
}

export const HELLO = defineServerEvent('hello', 'The socket is ready.', HelloEvent);
export const RESYNC = defineServerEvent(
  'resync',
  'Events may have been lost: resume, subscribe to presence again, and read the change feeds.',
  ResyncEvent,
);
export const AUTH_EXPIRING = defineServerEvent(
  'auth.expiring',
  'The socket closes soon: refresh it.',
  AuthExpiringEvent,
);
export const SESSION_CLOSING = defineServerEvent(
  'session.closing',
  'The server closes the socket.',
  SessionClosingEvent,
);
export const CHANGED = defineServerEvent(
  'changed',
  'A change feed of yours has grown: read its changes.',
  ChangedEvent,
);
export const AUTH_REFRESH = defineClientEvent(
  'auth.refresh',
  'Extend the life of the socket.',
  RefreshSocket,
  RefreshedResponse,
);
