import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { TenantRole } from '../../../platform/context/request-context.js';
import type { Language } from '../../../platform/languages/languages.js';

@Entity('tenant_invitations')
@Index('tenant_invitations_pending', ['tenantId', 'emailKey'], {
  unique: true,
  where: "state = 'pending'::text",
})
@Index('tenant_invitations_token', ['tenantId', 'tokenHash'], { where: 'token_hash IS NOT NULL' })
@Index('tenant_invitations_expiry', ['expiresAt'], { where: "state = 'pending'::text" })
@Index('tenant_invitations_ended', ['endedAt'], { where: 'ended_at IS NOT NULL' })
export class TenantInvitation {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') email!: string;
  @Column('text', { name: 'email_key' }) emailKey!: string;
  @Column('text') role!: TenantRole;
  @Column('uuid', { name: 'group_ids', array: true }) groupIds!: string[];
  @Column('text') message!: string;
  @Column('text') language!: Language;
  @Column('text') state!: 'pending' | 'accepted' | 'revoked' | 'expired';
  @Column('bytea', { name: 'token_hash', nullable: true }) tokenHash!: Buffer | null;
  @Column('uuid', { name: 'invited_by', nullable: true }) invitedBy!: string | null;
  @Column('uuid', { name: 'accepted_by', nullable: true }) acceptedBy!: string | null;
  @Column('int') sent!: number;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  /** When the current link replaced an earlier one. */
  @Column('timestamptz', { name: 'resent_at', nullable: true }) resentAt!: Date | null;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'ended_at', nullable: true }) endedAt!: Date | null;
}
