import { Turns } from '../../../lib/turns/index.js';
import type { XmlElement } from '../../../lib/xml/index.js';
import { childOf, childrenOf } from './multistatus.js';
import { caldav, carddav, type XmlName } from './xml-names.js';

/** The parts of a component that a program names. */
interface Selection {
  /** Whether the lines have values, by name; null: all properties. */
  properties: ReadonlyMap<string, boolean> | null;
  /** By name; null: all components. */
  components: ReadonlyMap<string, Selection> | null;
}

const WHOLE: Selection = { properties: null, components: null };
/** What every vCard has, whether it is named or not. */
const CARD_VERSION: ReadonlyMap<string, boolean> = new Map([['VERSION', true]]);

/** Selects a part of the text of a member. A response has one for all of its members. */
export type Selector = (text: string) => Promise<string>;

/** Lines that are read between two looks at the clock. */
const STEP = 1_000;

/**
 * The part of a text that `calendar-data` (RFC 4791, 9.6) or `address-data` (RFC 6352, 10.4) of a request names; null: the whole text.
 * @param data undefined: the request asks for no text
 */
export function selectorOf(data: XmlElement | undefined): Selector | null {
  if (!data) return null;
  const turns = new Turns();
  const calendar = childOf(data, caldav('comp'));
  if (calendar) {
    const selection = selectionOf(calendar);
    return selection === WHOLE ? null : (text) => selectText(text, selection, turns);
  }
  const properties = propertiesOf(data, carddav('prop'));
  if (properties.size === 0) return null;
  const selection = { properties: new Map([...CARD_VERSION, ...properties]), components: null };
  return (text) => selectText(text, selection, turns);
}

const nameOf = ({ attributes }: XmlElement): string => (attributes['name'] ?? '').toUpperCase();

const propertiesOf = (parent: XmlElement, name: XmlName): Map<string, boolean> =>
  new Map(childrenOf(parent, name).map((each) => [nameOf(each), each.attributes['novalue'] !== 'yes']));

/** A component that names nothing of its content is whole, as in the examples of RFC 4791, 7.8. */
function selectionOf(component: XmlElement): Selection {
  const properties = propertiesOf(component, caldav('prop'));
  const components = childrenOf(component, caldav('comp'));
  const hasAll = (name: string): boolean => childOf(component, caldav(name)) !== undefined;
  const [hasProperties, hasComponents] = [hasAll('allprop'), hasAll('allcomp')];
  if (properties.size + components.length === 0 && !hasProperties && !hasComponents) return WHOLE;
  return {
    properties: hasProperties ? null : properties,
    components: hasComponents ? null : new Map(components.map((each) => [nameOf(each), selectionOf(each)])),
  };
}

/** The name of a content line, without its group. Names of programs have other marks than those of RFC 6350 too. */
const LINE_NAME = /^(?:[\w-]+\.)?([^\s.:;,="]+)/;

/** The selected lines of a text that this server has written. @param selection of its outermost component */
async function selectText(text: string, selection: Selection, turns: Turns): Promise<string> {
  // Null: the component is left out.
  const open: (Selection | null)[] = [];
  let result = '';
  let isKept = true;
  for (let at = 0, lines = 1; at < text.length; lines += 1) {
    if (lines % STEP === 0) await turns.pause();
    const end = text.indexOf('\r\n', at);
    const line = text.slice(at, end < 0 ? text.length : end + 2);
    at += line.length;
    if (line.startsWith(' ') || line.startsWith('\t')) {
      if (isKept) result += line;
      continue;
    }
    const outer = open.length === 0 ? undefined : (open.at(-1) as Selection | null);
    const name = LINE_NAME.exec(line)?.[1]?.toUpperCase() ?? '';
    if (name === 'BEGIN') {
      const inner = outer === undefined ? selection : componentIn(outer, line.slice(6).trim().toUpperCase());
      open.push(inner);
      if (inner) result += line;
    } else if (name === 'END') {
      if (open.pop()) result += line;
    } else {
      const value = outer && (outer.properties === null || outer.properties.get(name));
      isKept = value === true;
      if (isKept) result += line;
      else if (value === false) result += `${name}:\r\n`;
    }
  }
  return result;
}

const componentIn = (outer: Selection | null, name: string): Selection | null =>
  outer === null ? null : outer.components === null ? WHOLE : (outer.components.get(name) ?? null);
