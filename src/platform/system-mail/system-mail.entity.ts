import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** `cancelled`: the mail is no longer needed. `not_configured`: no way to send mail is configured. */
export type SystemMailState = 'queued' | 'sent' | 'failed' | 'expired' | 'cancelled' | 'not_configured';

@Entity('system_mails')
@Index('system_mails_key', ['tenant_id', 'key'], { unique: true })
@Index('system_mails_expired', ['expires_at'], { where: `state = 'queued'::text` })
@Index('system_mails_finished', ['finished_at'], { where: 'finished_at IS NOT NULL' })
export class SystemMailRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') key!: string;
  @Column('text') template!: string;
  @Column('text') recipient!: string;
  @Column('text') language!: string;
  @Column('text', { nullable: true }) sealed!: string | null;
  @Column('text') state!: SystemMailState;
  @Column('text', { nullable: true }) error!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') expires_at!: Date;
  @Column('timestamptz', { nullable: true }) finished_at!: Date | null;
}
