import { Injectable, Param, type PipeTransform } from '@nestjs/common';
import { Errors } from './errors.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: unknown): text is string => typeof text === 'string' && UUID.test(text);

/** Ids in paths: any UUID in the canonical form of RFC 9562, lower-cased. @throws ApiError 422 `invalid_id` */
@Injectable()
export class IdPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (!isUuid(value)) throw Errors.invalidId.with();
    return value.toLowerCase();
  }
}

const ID_PIPE = new IdPipe();

/** The `:id` of a path (or another parameter of that kind). */
export const Id = (name = 'id'): ParameterDecorator => Param(name, ID_PIPE);
