import { formatProperty, type Parameter, type Property } from './property.js';

/** A component such as VCALENDAR, VEVENT or VALARM, with its properties in order. */
export interface Component {
  /** Upper case. */
  name: string;
  properties: Property[];
  components: Component[];
}

export const component = (
  name: string,
  properties: Property[] = [],
  components: Component[] = [],
): Component => ({ name, properties, components });

/** @param parameters values by name; null and undefined are left out */
export function property(
  name: string,
  value: string,
  parameters: Record<string, string | readonly string[] | null | undefined> = {},
): Property {
  const list: Parameter[] = [];
  for (const [key, given] of Object.entries(parameters))
    if (given !== null && given !== undefined)
      list.push({ name: key, values: typeof given === 'string' ? [given] : given });
  return { name, parameters: list, value };
}

/** The first property of this name. */
export const propertyOf = ({ properties }: Component, name: string): Property | undefined =>
  properties.find((each) => each.name === name);

export const propertiesOf = ({ properties }: Component, name: string): Property[] =>
  properties.filter((each) => each.name === name);

/** The first value of a parameter. */
export const parameterOf = ({ parameters }: Property, name: string): string | undefined =>
  parameters.find((each) => each.name === name)?.values[0];

/** The lines of a component, for a response that is written in parts. */
export function* linesOf({ name, properties, components }: Component): Generator<string, void, undefined> {
  yield `BEGIN:${name}\r\n`;
  for (const each of properties) yield formatProperty(each);
  for (const child of components) yield* linesOf(child);
  yield `END:${name}\r\n`;
}

export const formatComponent = (given: Component): string => [...linesOf(given)].join('');

/** Properties that repeat a description as HTML: the one of Outlook, and that of RFC 9073, 6.5. */
export const HTML_DESCRIPTIONS: readonly string[] = ['X-ALT-DESC', 'STYLED-DESCRIPTION'];
