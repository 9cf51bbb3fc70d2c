import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { TenantRole } from '../../../platform/context/request-context.js';
import type { Language } from '../../../platform/languages/languages.js';

@Entity('tenant_invitations')
@Index('tenant_invitations_pending', ['tenant_id', 'email_key'], {
  unique: true,
  where: "state = 'pending'::text",
})
@Index('tenant_invitations_token', ['tenant_id', 'token_hash'], { where: 'token_hash IS NOT NULL' })
@Index('tenant_invitations_expiry', ['expires_at'], { where: "state = 'pending'::text" })
@Index('tenant_invitations_ended', ['ended_at'], { where: 'ended_at IS NOT NULL' })
export class TenantInvitation {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') email!: string;
  @Column('text') email_key!: string;
  @Column('text') role!: TenantRole;
  @Column('uuid', { array: true }) group_ids!: string[];
  @Column('text') message!: string;
  @Column('text') language!: Language;
  @Column('text') state!: 'pending' | 'accepted' | 'revoked' | 'expired';
  @Column('bytea', { nullable: true }) token_hash!: Buffer | null;
  @Column('uuid', { nullable: true }) invited_by!: string | null;
  @Column('uuid', { nullable: true }) accepted_by!: string | null;
  @Column('int') sent!: number;
  @Column('timestamptz') created_at!: Date;
  /** When the current link replaced an earlier one. */
  @Column('timestamptz', { nullable: true }) resent_at!: Date | null;
  @Column('timestamptz') expires_at!: Date;
  @Column('timestamptz', { nullable: true }) ended_at!: Date | null;
}
