import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('application_passwords')
@Index('application_passwords_tenant_id_user_id_slot_key', ['tenant_id', 'user_id', 'slot'], { unique: true })
@Index('application_passwords_selector', ['tenant_id', 'user_id', 'selector'])
@Index('application_passwords_user', ['user_id'])
@Index('application_passwords_expiry', ['expires_at'], {
  where: "(state = 'active'::text) AND (expires_at IS NOT NULL)",
})
@Index('application_passwords_unfinished', ['created_at'], { where: "state = 'creating'::text" })
export class ApplicationPassword {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') user_id!: string;
  @Column('smallint', { nullable: true }) slot!: number | null;
  @Column('text') state!: 'creating' | 'active' | 'removing';
  @Column('text') description!: string;
  @Column('text', { array: true }) scopes!: string[];
  @Column('text') selector!: string;
  @Column('text') hash!: string;
  @Column('text', { nullable: true }) provider_id!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) expires_at!: Date | null;
  @Column('timestamptz', { nullable: true }) last_used_at!: Date | null;
  @Column('text', { nullable: true }) last_used_ip!: string | null;
}
