import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { WorkspaceItem } from '../../../platform/database/schema/item.entity.js';

@Entity('calendar_feeds')
@Index('calendar_feeds_token', ['tenant_id', 'token_hash'], { unique: true })
@Index('calendar_feeds_calendar', ['tenant_id', 'calendar_id'])
@ForeignKey('Calendar', ['tenant_id', 'calendar_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class CalendarFeed extends WorkspaceItem {
  @Column('uuid') calendar_id!: string;
  @Column('uuid') user_id!: string;
  @Column('bytea') token_hash!: Buffer;
  @Column('text') details!: 'full' | 'busy';
  @Column('timestamptz') created_at!: Date;
}
