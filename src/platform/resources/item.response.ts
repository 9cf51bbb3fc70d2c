import { ApiProperty } from '@nestjs/swagger';

/** Fields that the items of most resources have. */
export class ItemFields {
  /** @example "01890a5d-ac96-774b-bcce-b302099a8057" */
  @ApiProperty({ format: 'uuid' }) id!: string;
  /** @example "2026-11-21T09:30:00.000Z" */
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  /** @example "2026-11-21T09:30:00.000Z" */
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
}

/** Fields of items with revisions. */
export class RevisionedFields extends ItemFields {
  @ApiProperty({ type: 'integer', minimum: 1, example: 1 }) revision!: number;
}

/** Fields of items that clients synchronise and write with the name of their device. */
export class SyncedFields extends RevisionedFields {
  /**
   * The `device_id` of the last write of this record; null if the write had none. In a change feed, a client skips the records
   * with its own device.
   */
  @ApiProperty({ example: null }) updated_device!: string | null;
}
