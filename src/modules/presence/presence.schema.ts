import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';

/** The statuses that other users see. */
export const PRESENCE_STATUSES = ['online', 'away', 'dnd', 'offline'] as const;
export type PresenceStatus = (typeof PRESENCE_STATUSES)[number];

/** The statuses that a user may choose. `online`: the status follows the devices. */
export const PRESENCE_CHOICES = ['online', 'away', 'dnd', 'invisible'] as const;
export type PresenceChoice = (typeof PRESENCE_CHOICES)[number];

@Entity('presence_users')
@Index('presence_users_shown', ['tenant_id', 'user_id'], { where: `status <> 'offline'::text` })
@Index('presence_users_due', ['due_at'], { where: 'due_at IS NOT NULL' })
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class PresenceUser {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  /** The status that the user has chosen for all devices; null: it follows the devices. */
  @Column('text', { nullable: true }) choice!: Exclude<PresenceChoice, 'online'> | null;
  @Column('text') text!: string;
  /** End of the choice and its text. */
  @Column('timestamptz', { nullable: true }) choice_until!: Date | null;
  /** Time from which an invisible user is shown as offline: as late as after a disconnect. */
  @Column('timestamptz', { nullable: true }) hidden_at!: Date | null;
  /** Time of the next change without an event. */
  @Column('timestamptz', { nullable: true }) due_at!: Date | null;
  /** The status and the text that other users see. */
  @Column('text') status!: PresenceStatus;
  @Column('text') shown_text!: string;
  /** End of the text that other users see of an invisible user. */
  @Column('timestamptz', { nullable: true }) shown_until!: Date | null;
  @Column('timestamptz', { nullable: true }) last_active_at!: Date | null;
}

@Entity('presence_devices')
@Index('presence_devices_expired', ['expires_at'])
export class PresenceDevice {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('text') id!: string;
  @Column('boolean') active!: boolean;
  @Column('timestamptz') active_at!: Date;
  @Column('uuid', { array: true }) rooms!: string[];
  /** Null for tokens of an external issuer. */
  @Column('uuid', { nullable: true }) session_id!: string | null;
  @Column('timestamptz') expires_at!: Date;
}

export const presenceSchema: SchemaPart = {
  owner: 'presence',
  publishes: ['presence_views', 'presence_viewers'],
  entities: { workspace: [PresenceUser, PresenceDevice] },
  growth: {
    cleanedBy: { 'presence.sweep': ['presence_devices'] },
    bounded: ['presence_users'],
  },
  migrations: sqlMigrations(import.meta.url, {
    Presence1796950000003: '0001-presence',
    PresenceTextWhileOffline1798803000000: '0002-text-while-offline',
    PresenceSessions1798811000001: '0003-sessions-of-devices',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'presence-views', 'release-0.1.0'),
};
