import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** `cancelled`: the mail is no longer needed. `not_configured`: no way to send mail is configured. */
export type SystemMailState = 'queued' | 'sent' | 'failed' | 'expired' | 'cancelled' | 'not_configured';

@Entity('system_mails')
@Index('system_mails_key', ['tenantId', 'key'], { unique: true })
@Index('system_mails_expired', ['expiresAt'], { where: `state = 'queued'::text` })
@Index('system_mails_finished', ['finishedAt'], { where: 'finished_at IS NOT NULL' })
export class SystemMailRow {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') key!: string;
  @Column('text') template!: string;
  @Column('text') recipient!: string;
  @Column('text') language!: string;
  @Column('text', { nullable: true }) sealed!: string | null;
  @Column('text') state!: SystemMailState;
  @Column('text', { nullable: true }) error!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'finished_at', nullable: true }) finishedAt!: Date | null;
}
