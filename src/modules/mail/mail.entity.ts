import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('mail_accounts')
@Index('mail_accounts_mail_user', ['mailUserId'])
export class MailAccount {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('text') origin!: 'created' | 'linked';
  @Column('text') username!: string;
  @Column('text', { nullable: true }) address!: string | null;
  @Column('text', { name: 'mail_user_id', nullable: true }) mailUserId!: string | null;
  @Column('text', { nullable: true }) password!: string | null;
  @Column('text', { nullable: true }) token!: string | null;
  @Column('int', { name: 'token_version' }) tokenVersion!: number;
  @Column('uuid', { name: 'lease_id', nullable: true }) leaseId!: string | null;
  @Column('timestamptz', { name: 'lease_until', nullable: true }) leaseUntil!: Date | null;
  @Column('timestamptz', { name: 'retry_at', nullable: true }) retryAt!: Date | null;
  @Column('text', { nullable: true }) refusal!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('mail_pending_accounts')
@Index('mail_pending_accounts_due', ['retryAt'])
export class MailPendingAccount {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('timestamptz', { name: 'retry_at' }) retryAt!: Date;
}

/** Progress of the search for calendars in the mail of a user. */
@Entity('mail_calendar_scans')
@ForeignKey('MailAccount', ['tenantId', 'userId'], ['tenantId', 'userId'], { onDelete: 'CASCADE' })
export class MailCalendarScan {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('text', { nullable: true }) mailbox!: string | null;
  /** Id of the newest message that has been read. */
  @Column('bigint', { name: 'last_message' }) lastMessage!: string;
  /** Cursor of the next, older page of a search in progress. */
  @Column('text', { name: 'next_page', nullable: true }) nextPage!: string | null;
  /** Newest message that the search in progress has read. */
  @Column('bigint', { name: 'newest_message', nullable: true }) newestMessage!: string | null;
  @Column('timestamptz', { name: 'scanned_at' }) scannedAt!: Date;
}

/** Progress of the search for arrived mail of a user who wants events of it. */
@Entity('mail_arrival_scans')
@ForeignKey('MailAccount', ['tenantId', 'userId'], ['tenantId', 'userId'], { onDelete: 'CASCADE' })
export class MailArrivalScan {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('text', { nullable: true }) mailbox!: string | null;
  @Column('bigint', { name: 'last_message' }) lastMessage!: string;
  /** Of the newest message that was reported. */
  @Column('timestamptz', { name: 'last_arrival', nullable: true }) lastArrival!: Date | null;
  @Column('text', { name: 'next_page', nullable: true }) nextPage!: string | null;
  @Column('bigint', { name: 'newest_message', nullable: true }) newestMessage!: string | null;
  @Column('timestamptz', { name: 'scanned_at' }) scannedAt!: Date;
}

@Entity('mail_moves')
@Index('mail_moves_old', ['movedAt'])
export class MailMove {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('text') mailbox!: string;
  @PrimaryColumn('bigint', { name: 'message_id' }) messageId!: string;
  @Column('text') origin!: string;
  @Column('timestamptz', { name: 'moved_at' }) movedAt!: Date;
}

@Entity('mail_recipients')
export class MailRecipient {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('text', { name: 'address_key' }) addressKey!: string;
  @Column('text') address!: string;
  @Column('text') name!: string;
  @Column('int') uses!: number;
  @Column('timestamptz', { name: 'last_used_at' }) lastUsedAt!: Date;
  @Column('double precision') rank!: number;
  @Column('text') cause!: string;
}
