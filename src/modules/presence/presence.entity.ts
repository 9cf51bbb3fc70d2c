import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** The statuses that other users see. */
export const PRESENCE_STATUSES = ['online', 'away', 'dnd', 'offline'] as const;
export type PresenceStatus = (typeof PRESENCE_STATUSES)[number];

/** The statuses that a user may choose. `online`: the status follows the devices. */
export const PRESENCE_CHOICES = ['online', 'away', 'dnd', 'invisible'] as const;
export type PresenceChoice = (typeof PRESENCE_CHOICES)[number];

@Entity('presence_users')
@Index('presence_users_shown', ['tenantId', 'userId'], { where: `status <> 'offline'::text` })
@Index('presence_users_due', ['dueAt'], { where: 'due_at IS NOT NULL' })
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
export class PresenceUser {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('text', { nullable: true }) choice!: Exclude<PresenceChoice, 'online'> | null;
  @Column('text') text!: string;
  @Column('timestamptz', { name: 'choice_until', nullable: true }) choiceUntil!: Date | null;
  @Column('timestamptz', { name: 'hidden_at', nullable: true }) hiddenAt!: Date | null;
  @Column('timestamptz', { name: 'due_at', nullable: true }) dueAt!: Date | null;
  @Column('text') status!: PresenceStatus;
  @Column('text', { name: 'shown_text' }) shownText!: string;
  @Column('timestamptz', { name: 'shown_until', nullable: true }) shownUntil!: Date | null;
  @Column('timestamptz', { name: 'last_active_at', nullable: true }) lastActiveAt!: Date | null;
}

@Entity('presence_devices')
@Index('presence_devices_expired', ['expiresAt'])
export class PresenceDevice {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('text') id!: string;
  @Column('boolean') active!: boolean;
  @Column('timestamptz', { name: 'active_at' }) activeAt!: Date;
  @Column('uuid', { array: true }) rooms!: string[];
  @Column('uuid', { name: 'session_id', nullable: true }) sessionId!: string | null;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
}
