import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('socket_tokens')
@Index('socket_tokens_expired', ['expiresAt'])
export class SocketTokenRow {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('bytea') hash!: Buffer;
  @Column('uuid', { name: 'user_id' }) userId!: string;
  @Column('uuid', { name: 'session_id', nullable: true }) sessionId!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
}
