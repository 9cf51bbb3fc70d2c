import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A sender of messages that a user received. */
@Entity('received_addresses')
@Index('received_addresses_seen', ['tenantId', 'userId', 'lastSeenAt'])
export class ReceivedAddress {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('text', { name: 'address_key' }) addressKey!: string;
  @Column('text') address!: string;
  @Column('text') name!: string;
  @Column('int') count!: number;
  @Column('timestamptz', { name: 'last_seen_at' }) lastSeenAt!: Date;
}

/** The part of the inbox whose senders are counted. */
@Entity('received_address_scans')
export class ReceivedAddressScan {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('text') mailbox!: string;
  @Column('bigint') newest!: string;
  @Column('timestamptz', { name: 'scanned_at' }) scannedAt!: Date;
}
