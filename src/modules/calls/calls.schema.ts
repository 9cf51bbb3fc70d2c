import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { TimedItem } from '../../platform/database/schema/item.entity.js';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import {
  ExternalInvite,
  Guest,
  GuestDomain,
  GuestLimitRow,
  GuestOtp,
  GuestSpentToken,
  guestsSchema,
} from './guests/guests.schema.js';

/** Of calls that are made without a title and without a named room. */
export const DEFAULT_CALL_TITLE = 'Call';

export const CALL_KINDS = ['meeting', 'livestream'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

export const CALL_STATES = ['scheduled', 'live', 'ended'] as const;
export type CallState = (typeof CALL_STATES)[number];

const CALL_PRINCIPALS = ['user', 'guest', 'viewer'] as const;
export type CallPrincipal = (typeof CALL_PRINCIPALS)[number];

export const RECORDING_STATES = [
  'starting',
  'active',
  'stopping',
  'processing',
  'ready',
  'failed',
  'aborted',
] as const;
export type RecordingState = (typeof RECORDING_STATES)[number];

@Entity('calls')
@Index('calls_live_in_room', ['tenant_id', 'room_id'], { unique: true, where: `state = 'live'::call_state` })
@Index('calls_client', ['tenant_id', 'host_id', 'client_id'], { unique: true })
@Index('calls_live', ['tenant_id', 'started_at', 'id'], { where: `state = 'live'::call_state` })
@Index('calls_to_reconcile', ['id'], { where: `state = 'live'::call_state` })
@Index('calls_of_room', ['tenant_id', 'room_id', 'id'])
@Index('calls_open', ['tenant_id', 'host_id'], { where: 'ended_at IS NULL' })
export class Call extends TimedItem {
  @Column('uuid', { nullable: true }) room_id!: string | null;
  @Column('text') title!: string;
  @Column('enum', { enum: CALL_KINDS, enumName: 'call_kind' }) kind!: CallKind;
  @Column('enum', { enum: CALL_STATES, enumName: 'call_state' }) state!: CallState;
  @Column('uuid') host_id!: string;
  @Column('uuid', { nullable: true }) client_id!: string | null;
  @Column('boolean') external_locked!: boolean;
  @Column('boolean') lobby!: boolean;
  @Column('boolean') otp!: boolean;
  @Column('boolean') guest_chat!: boolean;
  @Column('boolean') auto_record!: boolean;
  @Column('int') max_participants!: number;
  @Column('int') max_guests!: number;
  @Column('int') max_viewers!: number;
  /** Starts again after its end: the call of a calendar event. */
  @Column('boolean') reusable!: boolean;
  @Column('timestamptz', { nullable: true }) scheduled_at!: Date | null;
  @Column('timestamptz', { nullable: true }) started_at!: Date | null;
  @Column('timestamptz', { nullable: true }) ended_at!: Date | null;
  @Column('timestamptz', { nullable: true }) empty_since!: Date | null;
}

/** Key of the call, for tables of its parts, which are deleted with it. */
@ForeignKey('Call', ['tenant_id', 'call_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
abstract class CallPart {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') call_id!: string;
}

@Entity('call_members')
@Index('call_members_user', ['tenant_id', 'user_id'])
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class CallMember extends CallPart {
  @PrimaryColumn('uuid') user_id!: string;
}

@Entity('call_declines')
export class CallDecline extends CallPart {
  @PrimaryColumn('uuid') user_id!: string;
  @Column('timestamptz') declined_at!: Date;
}

@Entity('call_participants')
@Index('call_participants_principal', ['tenant_id', 'principal_id'])
export class CallParticipant extends CallPart {
  @PrimaryColumn('text') identity!: string;
  @Column('enum', { enum: CALL_PRINCIPALS, enumName: 'call_principal' })
  principal_kind!: CallPrincipal;
  @Column('uuid') principal_id!: string;
  @Column('text') connection_id!: string;
  @Column('timestamptz') joined_at!: Date;
  @Column('timestamptz', { nullable: true }) left_at!: Date | null;
  @Column('timestamptz') first_joined_at!: Date;
  @Column('timestamptz') changed_at!: Date;
}

/** States in which a call can have no second recording. */
const ACTIVE = `state = ANY (ARRAY['starting'::recording_state, 'active'::recording_state, 'stopping'::recording_state])`;
const OPEN = ACTIVE.replace('])', `, 'processing'::recording_state])`);

@Entity('recordings')
@Index('recordings_active', ['tenant_id', 'call_id'], { unique: true, where: ACTIVE })
@Index('recordings_of_call', ['tenant_id', 'call_id', 'id'])
@Index('recordings_of_room', ['tenant_id', 'room_id', 'id'])
@Index('recordings_open', ['id'], { where: OPEN })
@Index('recordings_expired', ['expires_at'], { where: 'expires_at IS NOT NULL' })
@ForeignKey('Call', ['tenant_id', 'call_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class Recording extends TimedItem {
  @Column('uuid') call_id!: string;
  @Column('uuid', { nullable: true }) room_id!: string | null;
  @Column('uuid') requested_by!: string;
  @Column('enum', { enum: RECORDING_STATES, enumName: 'recording_state' }) state!: RecordingState;
  @Column('text', { nullable: true }) egress_id!: string | null;
  @Column('timestamptz', { nullable: true }) started_at!: Date | null;
  @Column('timestamptz', { nullable: true }) ended_at!: Date | null;
  @Column('bigint', { nullable: true }) duration_ms!: string | null;
  @Column('boolean') limit_reached!: boolean;
  @Column('text', { nullable: true }) error!: string | null;
  @Column('text') file!: string;
  @Column('uuid', { nullable: true }) blob_id!: string | null;
  @Column('bigint', { nullable: true }) size!: string | null;
  @Column('bytea', { nullable: true }) sha256!: Buffer | null;
  @Column('timestamptz', { nullable: true }) expires_at!: Date | null;
}

@Entity('webhook_events')
@Index('webhook_events_old', ['received_at'])
export class WebhookEventRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('text') source!: string;
  @PrimaryColumn('text') event_id!: string;
  @Column('timestamptz') received_at!: Date;
}

@Entity('call_bans')
export class CallBan extends CallPart {
  @PrimaryColumn('text') subject!: string;
  @Column('text') reason!: string;
  @Column('uuid') banned_by!: string;
  @Column('timestamptz') created_at!: Date;
}

export const callsSchema: SchemaPart = {
  owner: 'calls',
  entities: {
    workspace: [
      Call,
      CallMember,
      CallDecline,
      CallParticipant,
      Recording,
      WebhookEventRow,
      ExternalInvite,
      Guest,
      GuestOtp,
      GuestDomain,
      GuestSpentToken,
      GuestLimitRow,
      CallBan,
    ],
  },
  growth: {
    trimmedBy: {
      'calls.expire-recordings': ['recordings'],
      'calls.forget-events': ['webhook_events'],
      'guests.clean-codes': ['guest_otps'],
      'guests.clean-invites': ['external_invites'],
      'guests.clean-limits': ['guest_limits'],
    },
    cleanedBy: { 'guests.clean-invites': ['guest_spent_tokens', 'guests'] },
    content: ['call_bans', 'call_declines', 'call_members', 'call_participants', 'calls'],
    bounded: ['guest_domains'],
  },
  migrations: [
    ...sqlMigrations(import.meta.url, {
      Calls1796900000001: '0001-calls',
      ReusableCalls1796900000031: '0002-reusable-calls',
      CallDeclines1796900000041: '0003-call-declines',
      FailedRecordings1798800000071: '0004-failed-recordings',
      OpenCalls1798804000001: '0005-open-calls',
    }),
    ...guestsSchema.migrations,
  ],
  sql: [...sqlFiles('workspace', import.meta.url, 'call-views'), ...(guestsSchema.sql ?? [])],
};
