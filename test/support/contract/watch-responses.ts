import type { Request, Response } from 'express';
import { JsonReply } from '../../../src/platform/http/json-reply.js';
import { recordMismatch } from './mismatches.ts';
import { describedOperations } from './operations.ts';
import { checkOf } from './shapes.ts';

interface Adapter {
  reply(response: Response, body: unknown, status?: number): unknown;
}

let operations: Map<string, any> | undefined;

/** The description of the operation that has responded; undefined for routes of tests. */
function operationOf({ method, route }: Request): any {
  operations ??= new Map(
    describedOperations()
      .filter(({ spec }) => !spec.tags.includes('mail'))
      .map((each) => [`${each.method} ${each.path}`, each.spec]),
  );
  const path = String((route as { path?: unknown } | undefined)?.path).replaceAll(/:(\w+)/g, '{$1}');
  return operations.get(`${method === 'HEAD' ? 'GET' : method} ${path}`);
}

/** @returns the difference between a success and its description; undefined if there is none */
export function mismatchOf(operation: any, status: number, body: unknown): string | undefined {
  const schema = operation.responses[status]?.content?.['application/json']?.schema;
  const subject = `${operation.operationId} ${status}`;
  if (!schema) return `${subject} is not described as JSON`;
  const check = checkOf(subject, schema, false);
  if (check(body)) return undefined;
  const [error] = check.errors!;
  return `${subject} ${error?.instancePath}: ${error?.message} ${JSON.stringify(error?.params)}`;
}

/**
 * Compares each JSON success of an application with openapi.json: missing members, further members, other types, but not the limits
 * of values, since tests write longer texts by SQL. The test file
 * fails at its end (`checkMismatches`). Not compared: streams, responses outside of controllers, such as those of CalDAV, and those of
 * mail, which tests let the mail service make (`test/contract/shapes` compares recorded ones).
 */
export function watchResponses(adapter: Adapter): void {
  const reply = adapter.reply.bind(adapter);
  adapter.reply = (response, body, given) => {
    const status =
      (body instanceof JsonReply ? body.options.status : undefined) ?? given ?? response.statusCode;
    const operation = status < 300 ? operationOf(response.req) : undefined;
    if (
      operation &&
      (body instanceof JsonReply || Object.getPrototypeOf(body ?? null) === Object.prototype)
    ) {
      // As a client reads it: dates are texts, and members without a value are missing.
      const json = body instanceof JsonReply ? String(body.json) : JSON.stringify(body);
      const mismatch = mismatchOf(operation, status, JSON.parse(json));
      if (mismatch) recordMismatch(mismatch);
    }
    return reply(response, body, given);
  };
}
