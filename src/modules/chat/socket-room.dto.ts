import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsUUID } from 'class-validator';
import { Distinct, Uuid } from '../../platform/http/input.decorators.js';
import { EXAMPLE_ID } from '../../platform/field-docs/field-docs.js';

/** Ids in lower case, as PostgreSQL returns them. */
export const LowerCase = () =>
  Transform(({ value }: { value: unknown }) => {
    if (Array.isArray(value))
      return value.map((entry: unknown) => (typeof entry === 'string' ? entry.toLowerCase() : entry));
    return typeof value === 'string' ? value.toLowerCase() : value;
  });

/** A list of at most `max` ids in lower case, each once. */
export const Ids = (max: number, docs: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: [String], format: 'uuid', maxItems: max, ...docs }),
    IsArray(),
    IsUUID(undefined, { each: true }),
    ArrayMaxSize(max),
    LowerCase(),
    Distinct(),
  );

/** An event about a room. */
export class SocketRoom {
  @LowerCase() @Uuid({ example: EXAMPLE_ID }) room_id!: string;
}

/** An event about a message. */
export class SocketMessage extends SocketRoom {
  @LowerCase() @Uuid({ example: EXAMPLE_ID }) message_id!: string;
}
