import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsNumber, IsOptional, IsUUID, Matches } from 'class-validator';
import { EXAMPLE_ID } from '../field-docs/field-docs.js';
import { Nullable, Optional, Text } from '../http/input.decorators.js';
import { PageQuery } from '../paging/page.dto.js';

/** An item whose id the client may choose, so that it can be created offline. */
export class ClientId {
  /** Any UUID. Default: a new one. */
  @ApiPropertyOptional({ example: EXAMPLE_ID })
  @Optional()
  @IsUUID('all', { message: 'id must be a UUID' })
  id?: string;
}

/** Fields of a folder in a tree. */
export class FolderFields extends ClientId {
  /** One of your own folders; null: the top level. */
  @ApiPropertyOptional({ type: String, nullable: true, example: null })
  @Nullable()
  @IsUUID('all', { message: 'parent_id must be the id of one of your folders' })
  parent_id?: string | null;

  /** Position among its siblings: any number, also a fraction between two others. Default: last. */
  @ApiPropertyOptional({ example: 1.5 })
  @Optional()
  @IsNumber({ allowNaN: false, allowInfinity: false })
  position?: number;

  /** As #rrggbb. */
  @ApiPropertyOptional({ type: String, nullable: true, example: '#2f80ed' })
  @Nullable()
  @Matches(/^#[0-9a-f]{6}$/i, { message: 'color must be #rrggbb' })
  color?: string | null;

  /** Name of the client device, as `updated_device` in the change feed. */
  @Optional() @Text(200, { example: 'alices-phone' }) device_id?: string;
}

/** Query of a list of folders. */
export class ListFolders extends PageQuery {
  /** Restricts the list to the folders in this folder; `none`: to the top level. */
  @ApiPropertyOptional({ example: 'none' })
  @IsOptional()
  @Matches(/^(?:none|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i, {
    message: 'parent_id must be the id of a folder, or none',
  })
  parent_id?: string;
}

/** The parent that a list is restricted to; null: the top level; undefined: any. */
export const parentOf = ({ parent_id }: ListFolders): string | null | undefined =>
  parent_id === 'none' ? null : parent_id?.toLowerCase();
