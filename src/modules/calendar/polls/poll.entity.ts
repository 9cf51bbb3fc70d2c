import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { TimedItem } from '../../../platform/database/schema/item.entity.js';

@Entity('polls')
@Index('polls_open', ['tenantId', 'ownerId'], { where: 'option_id IS NULL AND cancelled_at IS NULL' })
export class Poll extends TimedItem {
  @Column('uuid', { name: 'owner_id' }) ownerId!: string;
  @Column('uuid', { name: 'calendar_id', nullable: true }) calendarId!: string | null;
  @Column('text') title!: string;
  @Column('text') description!: string;
  @Column('text') location!: string;
  @Column('text', { name: 'time_zone' }) timeZone!: string;
  @Column('text') kind!: 'time' | 'date';
  @Column('timestamptz', { nullable: true }) deadline!: Date | null;
  @Column('boolean', { name: 'allow_if_needed' }) allowIfNeeded!: boolean;
  @Column('boolean') anonymous!: boolean;
  @Column('uuid', { name: 'option_id', nullable: true }) optionId!: string | null;
  @Column('uuid', { name: 'event_id', nullable: true }) eventId!: string | null;
  @Column('timestamptz', { name: 'cancelled_at', nullable: true }) cancelledAt!: Date | null;
  @Column('int') revision!: number;
}

@Entity('poll_options')
@ForeignKey('Poll', ['tenantId', 'pollId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class PollOption {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'poll_id' }) pollId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('int') position!: number;
  @Column('text') starts!: string;
  @Column('text') ends!: string;
  @Column('uuid', { name: 'hold_event_id', nullable: true }) holdEventId!: string | null;
}

@Entity('poll_participants')
@Index('poll_participants_tenant_id_poll_id_email_key', ['tenantId', 'pollId', 'email'], { unique: true })
@ForeignKey('Poll', ['tenantId', 'pollId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class PollParticipant {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'poll_id' }) pollId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') email!: string;
  @Column('uuid', { name: 'user_id', nullable: true }) userId!: string | null;
  @Column('text') name!: string;
  @Column('boolean') required!: boolean;
  @Column('text') comment!: string;
  @Column('timestamptz', { name: 'responded_at', nullable: true }) respondedAt!: Date | null;
}

@Entity('poll_votes')
@ForeignKey('PollOption', ['tenantId', 'pollId', 'optionId'], ['tenantId', 'pollId', 'id'], {
  onDelete: 'CASCADE',
})
@ForeignKey('PollParticipant', ['tenantId', 'pollId', 'participantId'], ['tenantId', 'pollId', 'id'], {
  onDelete: 'CASCADE',
})
export class PollVote {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'poll_id' }) pollId!: string;
  @PrimaryColumn('uuid', { name: 'option_id' }) optionId!: string;
  @PrimaryColumn('uuid', { name: 'participant_id' }) participantId!: string;
  @Column('text') answer!: string;
}
