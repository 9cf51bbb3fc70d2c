import { Column, PrimaryColumn } from 'typeorm';

/** Key of an object of a workspace. */
export abstract class WorkspaceItem {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
}

/** Columns of an object of a workspace that records its creation and its last change. */
export abstract class TimedItem extends WorkspaceItem {
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}
