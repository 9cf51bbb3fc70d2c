import { Column, PrimaryColumn } from 'typeorm';

/** Key of an object of a workspace. */
export abstract class WorkspaceItem {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
}

/** Columns of an object of a workspace that records its creation and its last change. */
export abstract class TimedItem extends WorkspaceItem {
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
