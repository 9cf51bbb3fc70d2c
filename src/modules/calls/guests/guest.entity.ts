import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { TimedItem, WorkspaceItem } from '../../../platform/database/schema/item.entity.js';

export const INVITE_TARGETS = ['call', 'chat_room'] as const;
export const INVITE_KINDS = ['personal', 'link'] as const;
export const GUEST_ROLES = ['guest', 'viewer'] as const;

export const GUEST_STATES = [
  'waiting',
  'admitted',
  'in_session',
  'left',
  'denied',
  'expired',
  'removed',
] as const;
export type GuestState = (typeof GUEST_STATES)[number];

export const OTP_PURPOSES = ['join', 'livestream'] as const;
export type CodePurpose = (typeof OTP_PURPOSES)[number];
export const DOMAIN_STATES = ['requested', 'allowed', 'denied'] as const;

const ROLE = { type: 'enum', enum: GUEST_ROLES, enumName: 'guest_role' } as const;

@Entity('external_invites')
@Index('external_invites_token', ['tenantId', 'tokenHash'], { unique: true })
@Index('external_invites_chat_token', ['tenantId', 'chatTokenHash'], { unique: true })
@Index('external_invites_call', ['tenantId', 'callId', 'id'])
@Index('external_invites_room', ['tenantId', 'roomId', 'id'])
@Index('external_invites_expired', ['expiresAt'])
@Index('external_invites_creator', ['tenantId', 'createdBy', 'expiresAt'], { where: 'revoked_at IS NULL' })
@ForeignKey('Call', ['tenantId', 'callId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class ExternalInvite extends WorkspaceItem {
  @Column('enum', { enum: INVITE_TARGETS, enumName: 'invite_target', name: 'target_kind' })
  targetKind!: (typeof INVITE_TARGETS)[number];
  @Column('uuid', { name: 'call_id', nullable: true }) callId!: string | null;
  @Column('uuid', { name: 'room_id', nullable: true }) roomId!: string | null;
  @Column('enum', { enum: INVITE_KINDS, enumName: 'invite_kind' }) kind!: (typeof INVITE_KINDS)[number];
  @Column(ROLE) role!: (typeof GUEST_ROLES)[number];
  @Column('text', { nullable: true }) email!: string | null;
  @Column('text', { nullable: true }) name!: string | null;
  @Column('bytea', { name: 'token_hash' }) tokenHash!: Buffer;
  @Column('boolean', { name: 'require_otp' }) requireOtp!: boolean;
  @Column('boolean', { name: 'require_approval' }) requireApproval!: boolean;
  @Column('boolean', { name: 'chat_allowed' }) chatAllowed!: boolean;
  @Column('int', { name: 'max_uses' }) maxUses!: number;
  @Column('int') uses!: number;
  @Column('bytea', { name: 'chat_token_hash', nullable: true }) chatTokenHash!: Buffer | null;
  @Column('timestamptz', { name: 'chat_expires_at', nullable: true }) chatExpiresAt!: Date | null;
  @Column('uuid', { name: 'created_by' }) createdBy!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'revoked_at', nullable: true }) revokedAt!: Date | null;
}

@Entity('guests')
@Index('guests_token', ['tenantId', 'tokenHash'], { unique: true })
@Index('guests_session', ['tenantId', 'sessionHash'], { unique: true })
@Index('guests_call', ['tenantId', 'callId', 'id'])
@Index('guests_room', ['tenantId', 'roomId', 'id'])
@Index('guests_invite', ['tenantId', 'inviteId'])
@Index('guests_idle', ['activeAt'], {
  where: `state = ANY (ARRAY['waiting'::guest_state, 'admitted'::guest_state, 'in_session'::guest_state])`,
})
@Index('guests_kick', ['id'], { where: 'kick_pending' })
@Index('guests_in_session', ['tenantId', 'callId', 'role'], { where: `state = 'in_session'::guest_state` })
@ForeignKey('Call', ['tenantId', 'callId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('ExternalInvite', ['tenantId', 'inviteId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class Guest extends TimedItem {
  @Column('uuid', { name: 'invite_id' }) inviteId!: string;
  @Column('uuid', { name: 'call_id', nullable: true }) callId!: string | null;
  @Column('uuid', { name: 'room_id', nullable: true }) roomId!: string | null;
  @Column(ROLE) role!: (typeof GUEST_ROLES)[number];
  @Column('enum', { enum: GUEST_STATES, enumName: 'guest_state' }) state!: GuestState;
  @Column('text', { name: 'display_name' }) displayName!: string;
  @Column('text', { nullable: true }) email!: string | null;
  @Column('timestamptz', { name: 'email_verified_at', nullable: true }) emailVerifiedAt!: Date | null;
  @Column('bytea', { name: 'token_hash' }) tokenHash!: Buffer;
  @Column('bytea', { name: 'session_hash', nullable: true }) sessionHash!: Buffer | null;
  @Column('timestamptz', { name: 'session_expires_at', nullable: true }) sessionExpiresAt!: Date | null;
  @Column('int') requests!: number;
  @Column('timestamptz', { name: 'waiting_since', nullable: true }) waitingSince!: Date | null;
  @Column('timestamptz', { name: 'active_at' }) activeAt!: Date;
  @Column('timestamptz', { name: 'token_at', nullable: true }) tokenAt!: Date | null;
  @Column('uuid', { name: 'decided_by', nullable: true }) decidedBy!: string | null;
  @Column('timestamptz', { name: 'decided_at', nullable: true }) decidedAt!: Date | null;
  @Column('text', { name: 'decision_reason', nullable: true }) decisionReason!: string | null;
  @Column('bigint', { name: 'admitted_seq', nullable: true }) admittedSeq!: string | null;
  @Column('uuid', { name: 'removed_by', nullable: true }) removedBy!: string | null;
  @Column('timestamptz', { name: 'removed_at', nullable: true }) removedAt!: Date | null;
  @Column('boolean', { name: 'kick_pending' }) kickPending!: boolean;
  @Column('bigint', { name: 'upload_bytes' }) uploadBytes!: string;
  @Column('bytea', { name: 'address_hash', nullable: true }) addressHash!: Buffer | null;
  @Column('text', { name: 'user_agent', nullable: true }) userAgent!: string | null;
}

@Entity('guest_otps')
@Index('guest_otps_expired', ['expiresAt'])
@ForeignKey('ExternalInvite', ['tenantId', 'inviteId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class GuestOtp {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'invite_id' }) inviteId!: string;
  @PrimaryColumn('text') email!: string;
  @PrimaryColumn('enum', { enum: OTP_PURPOSES, enumName: 'guest_otp_purpose' })
  purpose!: CodePurpose;
  /** Null: the address does not fit the invite, or the code has been used. */
  @Column('bytea', { name: 'code_hmac', nullable: true }) codeHmac!: Buffer | null;
  @Column('int') attempts!: number;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'consumed_at', nullable: true }) consumedAt!: Date | null;
}

@Entity('guest_domains')
@Index('guest_domains_domain', ['tenantId', 'domain'], { unique: true })
export class GuestDomain extends WorkspaceItem {
  @Column('text') domain!: string;
  @Column('enum', { enum: DOMAIN_STATES, enumName: 'guest_domain_state' })
  state!: (typeof DOMAIN_STATES)[number];
  @Column('uuid', { name: 'requested_by' }) requestedBy!: string;
  @Column('text') reason!: string;
  @Column('uuid', { name: 'reviewed_by', nullable: true }) reviewedBy!: string | null;
  @Column('timestamptz', { name: 'reviewed_at', nullable: true }) reviewedAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('guest_spent_tokens')
@Index('guest_spent_tokens_guest', ['tenantId', 'guestId'])
@ForeignKey('Guest', ['tenantId', 'guestId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class GuestSpentToken {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('bytea', { name: 'token_hash' }) tokenHash!: Buffer;
  @Column('uuid', { name: 'guest_id' }) guestId!: string;
  @Column('timestamptz', { name: 'spent_at' }) spentAt!: Date;
}

@Entity('guest_limits')
@Index('guest_limits_used', ['usedAt'])
export class GuestLimitRow {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('text') scope!: string;
  @PrimaryColumn('bytea') subject!: Buffer;
  @Column('timestamptz', { array: true }) times!: Date[];
  @Column('timestamptz', { name: 'used_at' }) usedAt!: Date;
}
