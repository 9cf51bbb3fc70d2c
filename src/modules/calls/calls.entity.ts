import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { TimedItem } from '../../platform/database/schema/item.entity.js';

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
@Index('calls_live_in_room', ['tenantId', 'roomId'], { unique: true, where: `state = 'live'::call_state` })
@Index('calls_client', ['tenantId', 'hostId', 'clientId'], { unique: true })
@Index('calls_live', ['tenantId', 'startedAt', 'id'], { where: `state = 'live'::call_state` })
@Index('calls_to_reconcile', ['id'], { where: `state = 'live'::call_state` })
@Index('calls_of_room', ['tenantId', 'roomId', 'id'])
@Index('calls_open', ['tenantId', 'hostId'], { where: 'ended_at IS NULL' })
export class Call extends TimedItem {
  @Column('uuid', { name: 'room_id', nullable: true }) roomId!: string | null;
  @Column('text') title!: string;
  @Column('enum', { enum: CALL_KINDS, enumName: 'call_kind' }) kind!: CallKind;
  @Column('enum', { enum: CALL_STATES, enumName: 'call_state' }) state!: CallState;
  @Column('uuid', { name: 'host_id' }) hostId!: string;
  @Column('uuid', { name: 'client_id', nullable: true }) clientId!: string | null;
  @Column('boolean', { name: 'external_locked' }) externalLocked!: boolean;
  @Column('boolean') lobby!: boolean;
  @Column('boolean') otp!: boolean;
  @Column('boolean', { name: 'guest_chat' }) guestChat!: boolean;
  @Column('boolean', { name: 'auto_record' }) autoRecord!: boolean;
  @Column('int', { name: 'max_participants' }) maxParticipants!: number;
  @Column('int', { name: 'max_guests' }) maxGuests!: number;
  @Column('int', { name: 'max_viewers' }) maxViewers!: number;
  /** Starts again after its end: the call of a calendar event. */
  @Column('boolean') reusable!: boolean;
  @Column('timestamptz', { name: 'scheduled_at', nullable: true }) scheduledAt!: Date | null;
  @Column('timestamptz', { name: 'started_at', nullable: true }) startedAt!: Date | null;
  @Column('timestamptz', { name: 'ended_at', nullable: true }) endedAt!: Date | null;
  @Column('timestamptz', { name: 'empty_since', nullable: true }) emptySince!: Date | null;
}

/** Key of the call, for tables of its parts, which are deleted with it. */
@ForeignKey('Call', ['tenantId', 'callId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
abstract class CallPart {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'call_id' }) callId!: string;
}

@Entity('call_members')
@Index('call_members_user', ['tenantId', 'userId'])
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
export class CallMember extends CallPart {
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
}

@Entity('call_declines')
export class CallDecline extends CallPart {
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('timestamptz', { name: 'declined_at' }) declinedAt!: Date;
}

@Entity('call_participants')
@Index('call_participants_principal', ['tenantId', 'principalId'])
export class CallParticipant extends CallPart {
  @PrimaryColumn('text') identity!: string;
  @Column('enum', { enum: CALL_PRINCIPALS, enumName: 'call_principal', name: 'principal_kind' })
  principalKind!: CallPrincipal;
  @Column('uuid', { name: 'principal_id' }) principalId!: string;
  @Column('text', { name: 'connection_id' }) connectionId!: string;
  @Column('timestamptz', { name: 'joined_at' }) joinedAt!: Date;
  @Column('timestamptz', { name: 'left_at', nullable: true }) leftAt!: Date | null;
  @Column('timestamptz', { name: 'first_joined_at' }) firstJoinedAt!: Date;
  @Column('timestamptz', { name: 'changed_at' }) changedAt!: Date;
}

/** States in which a call can have no second recording. */
const ACTIVE = `state = ANY (ARRAY['starting'::recording_state, 'active'::recording_state, 'stopping'::recording_state])`;
const OPEN = ACTIVE.replace('])', `, 'processing'::recording_state])`);

@Entity('recordings')
@Index('recordings_active', ['tenantId', 'callId'], { unique: true, where: ACTIVE })
@Index('recordings_of_call', ['tenantId', 'callId', 'id'])
@Index('recordings_of_room', ['tenantId', 'roomId', 'id'])
@Index('recordings_open', ['id'], { where: OPEN })
@Index('recordings_expired', ['expiresAt'], { where: 'expires_at IS NOT NULL' })
@ForeignKey('Call', ['tenantId', 'callId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class Recording extends TimedItem {
  @Column('uuid', { name: 'call_id' }) callId!: string;
  @Column('uuid', { name: 'room_id', nullable: true }) roomId!: string | null;
  @Column('uuid', { name: 'requested_by' }) requestedBy!: string;
  @Column('enum', { enum: RECORDING_STATES, enumName: 'recording_state' }) state!: RecordingState;
  @Column('text', { name: 'egress_id', nullable: true }) egressId!: string | null;
  @Column('timestamptz', { name: 'started_at', nullable: true }) startedAt!: Date | null;
  @Column('timestamptz', { name: 'ended_at', nullable: true }) endedAt!: Date | null;
  @Column('bigint', { name: 'duration_ms', nullable: true }) durationMs!: string | null;
  @Column('boolean', { name: 'limit_reached' }) limitReached!: boolean;
  @Column('text', { nullable: true }) error!: string | null;
  @Column('text') file!: string;
  @Column('uuid', { name: 'blob_id', nullable: true }) blobId!: string | null;
  @Column('bigint', { nullable: true }) size!: string | null;
  @Column('bytea', { nullable: true }) sha256!: Buffer | null;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
}

@Entity('webhook_events')
@Index('webhook_events_old', ['receivedAt'])
export class WebhookEventRow {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('text') source!: string;
  @PrimaryColumn('text', { name: 'event_id' }) eventId!: string;
  @Column('timestamptz', { name: 'received_at' }) receivedAt!: Date;
}

@Entity('call_bans')
export class CallBan extends CallPart {
  @PrimaryColumn('text') subject!: string;
  @Column('text') reason!: string;
  @Column('uuid', { name: 'banned_by' }) bannedBy!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
