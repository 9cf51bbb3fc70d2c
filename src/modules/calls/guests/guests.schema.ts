import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { TimedItem, WorkspaceItem } from '../../../platform/database/schema/item.entity.js';
import { type SchemaPart, sqlMigrations } from '../../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../../platform/database/schema/stored-sql.js';

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
@Index('external_invites_token', ['tenant_id', 'token_hash'], { unique: true })
@Index('external_invites_chat_token', ['tenant_id', 'chat_token_hash'], { unique: true })
@Index('external_invites_call', ['tenant_id', 'call_id', 'id'])
@Index('external_invites_room', ['tenant_id', 'room_id', 'id'])
@Index('external_invites_expired', ['expires_at'])
@Index('external_invites_creator', ['tenant_id', 'created_by', 'expires_at'], { where: 'revoked_at IS NULL' })
@ForeignKey('Call', ['tenant_id', 'call_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class ExternalInvite extends WorkspaceItem {
  @Column('enum', { enum: INVITE_TARGETS, enumName: 'invite_target' })
  target_kind!: (typeof INVITE_TARGETS)[number];
  @Column('uuid', { nullable: true }) call_id!: string | null;
  @Column('uuid', { nullable: true }) room_id!: string | null;
  @Column('enum', { enum: INVITE_KINDS, enumName: 'invite_kind' }) kind!: (typeof INVITE_KINDS)[number];
  @Column(ROLE) role!: (typeof GUEST_ROLES)[number];
  @Column('text', { nullable: true }) email!: string | null;
  @Column('text', { nullable: true }) name!: string | null;
  @Column('bytea') token_hash!: Buffer;
  @Column('boolean') require_otp!: boolean;
  @Column('boolean') require_approval!: boolean;
  @Column('boolean') chat_allowed!: boolean;
  @Column('int') max_uses!: number;
  @Column('int') uses!: number;
  @Column('bytea', { nullable: true }) chat_token_hash!: Buffer | null;
  @Column('timestamptz', { nullable: true }) chat_expires_at!: Date | null;
  @Column('uuid') created_by!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') expires_at!: Date;
  @Column('timestamptz', { nullable: true }) revoked_at!: Date | null;
}

@Entity('guests')
@Index('guests_token', ['tenant_id', 'token_hash'], { unique: true })
@Index('guests_session', ['tenant_id', 'session_hash'], { unique: true })
@Index('guests_call', ['tenant_id', 'call_id', 'id'])
@Index('guests_room', ['tenant_id', 'room_id', 'id'])
@Index('guests_invite', ['tenant_id', 'invite_id'])
@Index('guests_idle', ['active_at'], {
  where: `state = ANY (ARRAY['waiting'::guest_state, 'admitted'::guest_state, 'in_session'::guest_state])`,
})
@Index('guests_kick', ['id'], { where: 'kick_pending' })
@Index('guests_in_session', ['tenant_id', 'call_id', 'role'], { where: `state = 'in_session'::guest_state` })
@ForeignKey('Call', ['tenant_id', 'call_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('ExternalInvite', ['tenant_id', 'invite_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class Guest extends TimedItem {
  @Column('uuid') invite_id!: string;
  @Column('uuid', { nullable: true }) call_id!: string | null;
  @Column('uuid', { nullable: true }) room_id!: string | null;
  @Column(ROLE) role!: (typeof GUEST_ROLES)[number];
  @Column('enum', { enum: GUEST_STATES, enumName: 'guest_state' }) state!: GuestState;
  @Column('text') display_name!: string;
  @Column('text', { nullable: true }) email!: string | null;
  @Column('timestamptz', { nullable: true }) email_verified_at!: Date | null;
  @Column('bytea') token_hash!: Buffer;
  @Column('bytea', { nullable: true }) session_hash!: Buffer | null;
  @Column('timestamptz', { nullable: true }) session_expires_at!: Date | null;
  @Column('int') requests!: number;
  @Column('timestamptz', { nullable: true }) waiting_since!: Date | null;
  @Column('timestamptz') active_at!: Date;
  @Column('timestamptz', { nullable: true }) token_at!: Date | null;
  @Column('uuid', { nullable: true }) decided_by!: string | null;
  @Column('timestamptz', { nullable: true }) decided_at!: Date | null;
  @Column('text', { nullable: true }) decision_reason!: string | null;
  @Column('bigint', { nullable: true }) admitted_seq!: string | null;
  @Column('uuid', { nullable: true }) removed_by!: string | null;
  @Column('timestamptz', { nullable: true }) removed_at!: Date | null;
  @Column('boolean') kick_pending!: boolean;
  @Column('bigint') upload_bytes!: string;
  @Column('bytea', { nullable: true }) address_hash!: Buffer | null;
  @Column('text', { nullable: true }) user_agent!: string | null;
}

@Entity('guest_otps')
@Index('guest_otps_expired', ['expires_at'])
@ForeignKey('ExternalInvite', ['tenant_id', 'invite_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class GuestOtp {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') invite_id!: string;
  @PrimaryColumn('text') email!: string;
  @PrimaryColumn('enum', { enum: OTP_PURPOSES, enumName: 'guest_otp_purpose' })
  purpose!: CodePurpose;
  /** Null means that the address does not fit the invite, or the code has been used. */
  @Column('bytea', { nullable: true }) code_hmac!: Buffer | null;
  @Column('int') attempts!: number;
  @Column('timestamptz') expires_at!: Date;
  @Column('timestamptz', { nullable: true }) consumed_at!: Date | null;
}

@Entity('guest_domains')
@Index('guest_domains_domain', ['tenant_id', 'domain'], { unique: true })
export class GuestDomain extends WorkspaceItem {
  @Column('text') domain!: string;
  @Column('enum', { enum: DOMAIN_STATES, enumName: 'guest_domain_state' })
  state!: (typeof DOMAIN_STATES)[number];
  @Column('uuid') requested_by!: string;
  @Column('text') reason!: string;
  @Column('uuid', { nullable: true }) reviewed_by!: string | null;
  @Column('timestamptz', { nullable: true }) reviewed_at!: Date | null;
  @Column('timestamptz') created_at!: Date;
}

@Entity('guest_spent_tokens')
@Index('guest_spent_tokens_guest', ['tenant_id', 'guest_id'])
@ForeignKey('Guest', ['tenant_id', 'guest_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class GuestSpentToken {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('bytea') token_hash!: Buffer;
  @Column('uuid') guest_id!: string;
  @Column('timestamptz') spent_at!: Date;
}

@Entity('guest_limits')
@Index('guest_limits_used', ['used_at'])
export class GuestLimitRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('text') scope!: string;
  @PrimaryColumn('bytea') subject!: Buffer;
  @Column('timestamptz', { array: true }) times!: Date[];
  @Column('timestamptz') used_at!: Date;
}

/** Migrations and SQL of guests, which belong to the schema of calls. */
export const guestsSchema: Pick<SchemaPart, 'migrations' | 'sql'> = {
  migrations: sqlMigrations(import.meta.url, {
    GuestLimits1796900000021: '0001-guest-limits',
    GuestTokenTime1798500000041: '0002-token-time',
    InvitesOfCreators1798804000002: '0003-invites-of-creators',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'guest-invites', 'release-0.1.0'),
};
