import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('application_passwords')
@Index('application_passwords_tenant_id_user_id_slot_key', ['tenantId', 'userId', 'slot'], { unique: true })
@Index('application_passwords_selector', ['tenantId', 'userId', 'selector'])
@Index('application_passwords_user', ['userId'])
@Index('application_passwords_expiry', ['expiresAt'], {
  where: "(state = 'active'::text) AND (expires_at IS NOT NULL)",
})
@Index('application_passwords_unfinished', ['createdAt'], { where: "state = 'creating'::text" })
export class ApplicationPassword {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'user_id' }) userId!: string;
  @Column('smallint', { nullable: true }) slot!: number | null;
  @Column('text') state!: 'creating' | 'active' | 'removing';
  @Column('text') description!: string;
  @Column('text', { array: true }) scopes!: string[];
  @Column('text') selector!: string;
  @Column('text') hash!: string;
  @Column('text', { name: 'provider_id', nullable: true }) providerId!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
  @Column('timestamptz', { name: 'last_used_at', nullable: true }) lastUsedAt!: Date | null;
  @Column('text', { name: 'last_used_ip', nullable: true }) lastUsedIp!: string | null;
}
