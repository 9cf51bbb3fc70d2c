import { openApi } from './operations.ts';

const isText = ({ type, format, pattern, enum: values }: any): boolean =>
  type === 'string' && !format && !pattern && !values;

/**
 * The body that creates an ordinary item, as openapi.json describes it: the required fields.
 * @param path of the collection, below `/apis/v1`
 * @param text replaces the examples of fields that take any text
 * @returns undefined without a creation by JSON, if a required field has no example, or if none takes any text
 */
export function bodyOfCreation(path: string, text: string): Record<string, unknown> | undefined {
  const { schemas } = openApi().components;
  const [schema] = Object.values<any>(
    openApi().paths[`/apis/v1${path}`]?.['post']?.requestBody?.content ?? {},
  ).map((content) => schemas[String(content.schema?.$ref).replace('#/components/schemas/', '')]);
  const fields = (schema?.required ?? []).map((name: string) => [name, schema.properties[name]]);
  const body = fields.map(([name, field]: [string, any]) => [name, isText(field) ? text : field.example]);
  const isWhole = body.every(([, value]: [string, unknown]) => value !== undefined);
  return isWhole && fields.some(([, field]: [string, any]) => isText(field))
    ? Object.fromEntries(body)
    : undefined;
}
