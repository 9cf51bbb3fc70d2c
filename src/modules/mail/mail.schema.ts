import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';

@Entity('mail_accounts')
@Index('mail_accounts_mail_user', ['mail_user_id'])
export class MailAccount {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('text') origin!: 'created' | 'linked';
  @Column('text') username!: string;
  @Column('text', { nullable: true }) address!: string | null;
  @Column('text', { nullable: true }) mail_user_id!: string | null;
  @Column('text', { nullable: true }) password!: string | null;
  @Column('text', { nullable: true }) token!: string | null;
  @Column('int') token_version!: number;
  @Column('uuid', { nullable: true }) lease_id!: string | null;
  @Column('timestamptz', { nullable: true }) lease_until!: Date | null;
  @Column('timestamptz', { nullable: true }) retry_at!: Date | null;
  @Column('text', { nullable: true }) refusal!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}

@Entity('mail_pending_accounts')
@Index('mail_pending_accounts_due', ['retry_at'])
export class MailPendingAccount {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('timestamptz') retry_at!: Date;
}

/** Progress of the search for calendars in the mail of a user. */
@Entity('mail_calendar_scans')
@ForeignKey('MailAccount', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'], { onDelete: 'CASCADE' })
export class MailCalendarScan {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('text', { nullable: true }) mailbox!: string | null;
  /** Id of the newest message that has been read. */
  @Column('bigint') last_message!: string;
  /** Cursor of the next, older page of a search in progress. */
  @Column('text', { nullable: true }) next_page!: string | null;
  /** Newest message that the search in progress has read. */
  @Column('bigint', { nullable: true }) newest_message!: string | null;
  @Column('timestamptz') scanned_at!: Date;
}

/** Progress of the search for arrived mail of a user who wants events of it. */
@Entity('mail_arrival_scans')
@ForeignKey('MailAccount', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'], { onDelete: 'CASCADE' })
export class MailArrivalScan {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('text', { nullable: true }) mailbox!: string | null;
  @Column('bigint') last_message!: string;
  /** Of the newest message that was reported. */
  @Column('timestamptz', { nullable: true }) last_arrival!: Date | null;
  @Column('text', { nullable: true }) next_page!: string | null;
  @Column('bigint', { nullable: true }) newest_message!: string | null;
  @Column('timestamptz') scanned_at!: Date;
}

@Entity('mail_moves')
@Index('mail_moves_old', ['moved_at'])
export class MailMove {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('text') mailbox!: string;
  @PrimaryColumn('bigint') message_id!: string;
  @Column('text') origin!: string;
  @Column('timestamptz') moved_at!: Date;
}

@Entity('mail_recipients')
export class MailRecipient {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('text') address_key!: string;
  @Column('text') address!: string;
  @Column('text') name!: string;
  /** Number of messages to this address. */
  @Column('int') uses!: number;
  @Column('timestamptz') last_used_at!: Date;
  /** Sort key of frequency and recency. */
  @Column('double precision') rank!: number;
  @Column('text') cause!: string;
}

export const mailSchema: SchemaPart = {
  owner: 'mail',
  entities: {
    workspace: [MailAccount, MailArrivalScan, MailCalendarScan, MailMove, MailPendingAccount, MailRecipient],
  },
  growth: {
    trimmedBy: { 'forget-mail-moves': ['mail_moves'] },
    trimmedOnUse: { 'A write keeps the most recent recipients of a user.': ['mail_recipients'] },
    bounded: ['mail_accounts', 'mail_arrival_scans', 'mail_calendar_scans', 'mail_pending_accounts'],
  },
  migrations: sqlMigrations(import.meta.url, {
    Mail1795300000001: '0301-mail',
    PendingMailAccounts1795500000301: '0302-pending-accounts',
    CalendarMail1797000000002: '0303-calendar-mail',
    CalendarMailWalks1797100000020: '0304-calendar-mail-walks',
    MailArrivals1798813000001: '0305-mail-arrivals',
    FollowedAddresses1798816000082: '0306-followed-addresses',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'recipients'),
};
