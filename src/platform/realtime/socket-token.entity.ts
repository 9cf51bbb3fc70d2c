import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('socket_tokens')
@Index('socket_tokens_expired', ['expires_at'])
export class SocketTokenRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('bytea') hash!: Buffer;
  @Column('uuid') user_id!: string;
  @Column('uuid', { nullable: true }) session_id!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') expires_at!: Date;
}
