import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { TimedItem } from '../../../platform/database/schema/item.entity.js';

@Entity('polls')
@Index('polls_open', ['tenant_id', 'owner_id'], { where: 'option_id IS NULL AND cancelled_at IS NULL' })
export class Poll extends TimedItem {
  @Column('uuid') owner_id!: string;
  @Column('uuid', { nullable: true }) calendar_id!: string | null;
  @Column('text') title!: string;
  @Column('text') description!: string;
  @Column('text') location!: string;
  @Column('text') time_zone!: string;
  @Column('text') kind!: 'time' | 'date';
  @Column('timestamptz', { nullable: true }) deadline!: Date | null;
  @Column('boolean') allow_if_needed!: boolean;
  @Column('boolean') anonymous!: boolean;
  @Column('uuid', { nullable: true }) option_id!: string | null;
  @Column('uuid', { nullable: true }) event_id!: string | null;
  @Column('timestamptz', { nullable: true }) cancelled_at!: Date | null;
  @Column('int') revision!: number;
}

@Entity('poll_options')
@ForeignKey('Poll', ['tenant_id', 'poll_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class PollOption {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') poll_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('int') position!: number;
  /** Instants, or days with the same end. */
  @Column('text') starts!: string;
  @Column('text') ends!: string;
  /** The tentative event that keeps the time free. */
  @Column('uuid', { nullable: true }) hold_event_id!: string | null;
}

@Entity('poll_participants')
@Index('poll_participants_tenant_id_poll_id_email_key', ['tenant_id', 'poll_id', 'email'], { unique: true })
@ForeignKey('Poll', ['tenant_id', 'poll_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class PollParticipant {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') poll_id!: string;
  @PrimaryColumn('uuid') id!: string;
  /** Lower case. */
  @Column('text') email!: string;
  @Column('uuid', { nullable: true }) user_id!: string | null;
  @Column('text') name!: string;
  @Column('boolean') required!: boolean;
  @Column('text') comment!: string;
  @Column('timestamptz', { nullable: true }) responded_at!: Date | null;
}

@Entity('poll_votes')
@ForeignKey('PollOption', ['tenant_id', 'poll_id', 'option_id'], ['tenant_id', 'poll_id', 'id'], {
  onDelete: 'CASCADE',
})
@ForeignKey('PollParticipant', ['tenant_id', 'poll_id', 'participant_id'], ['tenant_id', 'poll_id', 'id'], {
  onDelete: 'CASCADE',
})
export class PollVote {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') poll_id!: string;
  @PrimaryColumn('uuid') option_id!: string;
  @PrimaryColumn('uuid') participant_id!: string;
  @Column('text') answer!: string;
}
