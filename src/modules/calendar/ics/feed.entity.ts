import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { WorkspaceItem } from '../../../platform/database/schema/item.entity.js';

@Entity('calendar_feeds')
@Index('calendar_feeds_token', ['tenantId', 'tokenHash'], { unique: true })
@Index('calendar_feeds_calendar', ['tenantId', 'calendarId'])
@ForeignKey('Calendar', ['tenantId', 'calendarId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class CalendarFeed extends WorkspaceItem {
  @Column('uuid', { name: 'calendar_id' }) calendarId!: string;
  @Column('uuid', { name: 'user_id' }) userId!: string;
  @Column('bytea', { name: 'token_hash' }) tokenHash!: Buffer;
  @Column('text') details!: 'full' | 'busy';
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
