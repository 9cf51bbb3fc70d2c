import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('note_folders')
export class NoteFolder {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'owner_id' }) ownerId!: string;
  @Column('uuid', { name: 'parent_id', nullable: true }) parentId!: string | null;
  @Column('text') name!: string;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('double precision') position!: number;
  @Column('int') revision!: number;
  @Column('bigint') seq!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
  @Column('timestamptz', { name: 'gone_at', nullable: true }) goneAt!: Date | null;
}
