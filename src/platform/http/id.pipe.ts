import { Injectable, Param, type PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Errors } from './errors.js';
import { documentsInput } from './input-docs.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: unknown): text is string => typeof text === 'string' && UUID.test(text);

/** Validates an id in a path: a UUID in the canonical form of RFC 9562. Returns it in lower case. @throws ApiError 422 `invalid_id` */
@Injectable()
class IdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (!isUuid(value)) throw Errors.invalidId.with();
    return value.toLowerCase();
  }
}

const ID_PIPE = new IdPipe();
const ID_ERRORS = documentsInput({ errors: [Errors.invalidId] });

/** Injects and documents the `:id` of a path, or another id parameter. */
export const Id =
  (name = 'id'): ParameterDecorator =>
  (target, key, index) => {
    Param(name, ID_PIPE)(target, key, index);
    ID_ERRORS(target, key, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, key as string)!;
    ID_DOCS(name)(target, key as string, descriptor);
  };

/** `examples` instead of `example`: Swagger UI would fill in an id that does not exist. */
const ID_DOCS = (name: string): MethodDecorator =>
  ApiParam({
    name,
    description: `${name === 'id' ? 'Id of the object' : `Id of the ${name.replace(/_id$/, '')}`}, a UUID.`,
    schema: { type: 'string', format: 'uuid', examples: ['01890a5d-ac96-774b-bcce-b302099a8057'] },
  });
