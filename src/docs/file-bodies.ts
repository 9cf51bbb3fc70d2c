import type { OpenAPIObject } from '@nestjs/swagger';

type Body = { content?: Record<string, { schema?: object }> };

/**
 * Describes the files that an operation takes in place of a JSON body. The decorators of Nest give each media type of a body the
 * schema and the examples of the JSON body.
 */
export function describeFileBodies(paths: OpenAPIObject['paths']): void {
  const operations = Object.values(paths).flatMap((item) => Object.values(item) as { requestBody?: Body }[]);
  for (const { requestBody: { content = {} } = {} } of operations)
    for (const [type, { schema }] of Object.entries(content))
      if (schema && '$ref' in schema && !/[/+]json$/.test(type)) content[type] = { schema: fileOf(type) };
}

const fileOf = (type: string): object =>
  type === 'multipart/form-data'
    ? {
        type: 'object',
        required: ['file'],
        properties: {
          file: { type: 'string', format: 'binary', description: 'Its field may have any name.' },
        },
      }
    : { type: 'string' };
