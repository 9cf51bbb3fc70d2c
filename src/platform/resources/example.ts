import type { Type } from '@nestjs/common';

interface Property {
  type?: unknown;
  example?: unknown;
  default?: unknown;
  enum?: unknown[];
  isArray?: boolean;
}

/** Properties of a documented class: those of the Swagger plugin (doc comments) and of `@ApiProperty`. */
function propertiesOf(type: Type): Record<string, Property> {
  const prototype = type.prototype as object;
  const base = Object.getPrototypeOf(type) as Type;
  const inherited = base?.prototype ? propertiesOf(base) : {};
  const plugin = Object.hasOwn(type, '_OPENAPI_METADATA_FACTORY')
    ? (
        type as unknown as { _OPENAPI_METADATA_FACTORY(): Record<string, Property> }
      )._OPENAPI_METADATA_FACTORY()
    : {};
  const names = (Reflect.getOwnMetadata('swagger/apiModelPropertiesArray', prototype) ?? []) as string[];
  const own = Object.fromEntries(
    names.map((name) => {
      const key = name.slice(1);
      const decorated = Reflect.getMetadata('swagger/apiModelProperties', prototype, key) as Property;
      return [key, { ...inherited[key], ...plugin[key], ...decorated }];
    }),
  );
  return { ...inherited, ...plugin, ...own };
}

/** An object made of the examples of a documented class, e.g. for the example of an error that carries it. */
export function exampleOf(type: Type): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(propertiesOf(type)).map(([key, property]) => [key, valueOf(property)]),
  );
}

function valueOf({ type, example, default: fallback, enum: values, isArray }: Property): unknown {
  if (example !== undefined) return example;
  if (fallback !== undefined) return fallback;
  if (values) return values[0];
  const resolved: unknown = typeof type === 'function' && !type.prototype ? (type as () => unknown)() : type;
  if (Array.isArray(resolved)) return [exampleOf(resolved[0] as Type)];
  return isArray ? [exampleOf(resolved as Type)] : exampleOf(resolved as Type);
}
