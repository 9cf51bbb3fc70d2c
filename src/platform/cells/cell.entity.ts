import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** A database with workspaces. */
@Entity('cells')
export class CellRow {
  @PrimaryColumn('text') name!: string;
  /** Null: the database of the directory. */
  @Column('text', { nullable: true }) sealed_url!: string | null;
  @Column('text', { nullable: true }) schema!: string | null;
  @Column('text') state!: 'open' | 'draining';
  @Column('bigint') workspaces!: string;
  @Column('timestamptz') added_at!: Date;
}

/** The cell of a workspace. */
@Entity('workspace_cells')
@Index('workspace_cells_cell', ['cell', 'tenant_id'])
@ForeignKey('CellRow', ['cell'], ['name'])
export class WorkspaceCell {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('text') cell!: string;
}

/** The move of a workspace to another cell. */
@Entity('workspace_moves')
@ForeignKey('CellRow', ['source'], ['name'])
@ForeignKey('CellRow', ['target'], ['name'])
export class WorkspaceMoveRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('text') source!: string;
  @Column('text') target!: string;
  @Column('text') state!: 'copying' | 'switched';
  @Column('timestamptz') alive_at!: Date;
}

/** A cell other than `main` with memberships of an account. */
@Entity('account_cells')
@ForeignKey('CellRow', ['cell'], ['name'])
export class AccountCell {
  @PrimaryColumn('uuid') account_id!: string;
  @PrimaryColumn('text') cell!: string;
}

/** The decision whether the parts of a transaction in several databases commit. */
@Entity('commit_decisions')
@Index('commit_decisions_decided', ['decided_at'])
export class CommitDecision {
  @PrimaryColumn('uuid') id!: string;
  @Column('boolean') committed!: boolean;
  @Column('timestamptz') decided_at!: Date;
}
