import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('calendar_feeds')
@Index('calendar_feeds_token', ['tenantId', 'tokenHash'], { unique: true })
@Index('calendar_feeds_calendar', ['tenantId', 'calendarId'])
@ForeignKey('Calendar', ['tenantId', 'calendarId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class CalendarFeed {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'calendar_id' }) calendarId!: string;
  @Column('uuid', { name: 'user_id' }) userId!: string;
  @Column('bytea', { name: 'token_hash' }) tokenHash!: Buffer;
  @Column('text') details!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
