import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A sender of messages that a user received. */
@Entity('received_addresses')
@Index('received_addresses_seen', ['tenant_id', 'user_id', 'last_seen_at'])
export class ReceivedAddress {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('text') address_key!: string;
  @Column('text') address!: string;
  @Column('text') name!: string;
  @Column('int') count!: number;
  @Column('timestamptz') last_seen_at!: Date;
}

/** The part of the inbox whose senders are counted. */
@Entity('received_address_scans')
export class ReceivedAddressScan {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('text') mailbox!: string;
  @Column('bigint') newest!: string;
  @Column('timestamptz') scanned_at!: Date;
}
