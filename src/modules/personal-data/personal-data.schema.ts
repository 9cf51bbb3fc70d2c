import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';

export const EXPORT_STATES = ['pending', 'running', 'done', 'failed'] as const;
export type ExportState = (typeof EXPORT_STATES)[number];

/** The latest export of a member's data. */
@Entity('personal_exports')
@Index('personal_exports_user', ['user_id'])
@Index('personal_exports_due', ['due_at'], { where: 'due_at IS NOT NULL' })
@Index('personal_exports_expired', ['expires_at'], { where: 'expires_at IS NOT NULL' })
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class PersonalExport {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('uuid') id!: string;
  @Column('text') state!: ExportState;
  @Column('timestamptz') requested_at!: Date;
  @Column('timestamptz', { nullable: true }) finished_at!: Date | null;
  @Column('timestamptz', { nullable: true }) expires_at!: Date | null;
  @Column('int') sources_done!: number;
  @Column('int') sources_total!: number;
  @Column('int') omitted!: number;
  @Column('int') attempts!: number;
  /** The process that runs the export. */
  @Column('uuid', { nullable: true }) lease_id!: string | null;
  /** When a process may take the export: the end of the lease or of the pause after a failure. */
  @Column('timestamptz', { nullable: true }) due_at!: Date | null;
  @Column('uuid', { nullable: true }) blob_id!: string | null;
  @Column('bigint', { nullable: true }) size!: string | null;
  @Column('bytea', { nullable: true }) sha256!: Buffer | null;
}

export type ErasureState = 'pending' | 'running' | 'done';

/** The erasure of the data of a former member. */
@Entity('personal_erasures')
@Index('personal_erasures_user', ['user_id'])
@Index('personal_erasures_due', ['due_at'], { where: 'due_at IS NOT NULL' })
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class PersonalErasure {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('text') state!: ErasureState;
  @Column('timestamptz') requested_at!: Date;
  /** When a process may take the erasure: the end of the grace time, of a lease or of a pause after a failure. */
  @Column('timestamptz', { nullable: true }) due_at!: Date | null;
  /** The process that runs the erasure. */
  @Column('uuid', { nullable: true }) lease_id!: string | null;
  @Column('int') attempts!: number;
  /** Names of the sources whose data are erased. */
  @Column('text', { array: true }) steps!: string[];
  @Column('timestamptz', { nullable: true }) finished_at!: Date | null;
}

export const personalDataSchema: SchemaPart = {
  owner: 'personal-data',
  entities: { workspace: [PersonalExport, PersonalErasure] },
  growth: {
    trimmedBy: { 'expire-personal-exports': ['personal_exports'] },
    bounded: ['personal_erasures'],
  },
  migrations: sqlMigrations(import.meta.url, {
    PersonalExports1797911230241: '0001-personal-exports',
    PersonalErasures1798112308253: '0002-personal-erasures',
  }),
};
