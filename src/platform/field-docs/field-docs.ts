import { getSchemaPath } from '@nestjs/swagger';

// Documentation of fields that many requests and responses have. The Swagger plugin adds `nullable` to fields of a type with null.

export const EXAMPLE_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
export const EXAMPLE_TIME = '2026-11-21T09:30:00.000Z';

export const UUID = { format: 'uuid', example: EXAMPLE_ID } as const;
/** A UUID that may be null; the example is null. */
export const NO_UUID = { format: 'uuid', example: null } as const;
export const DATE_TIME = { format: 'date-time', example: EXAMPLE_TIME } as const;
/** A time that may be null; the example is null. */
export const NO_DATE_TIME = { format: 'date-time', example: null } as const;

/** An object that may be null. Its class must be documented elsewhere, or by `@ApiExtraModels`. */
export const orNull = (type: new () => object, example: object | null = null) => ({
  anyOf: [{ $ref: getSchemaPath(type) }, { type: 'null' as 'object' }],
  example,
});
