import type { XmlElement } from '../../../lib/xml/index.js';
import { childOf, childrenOf } from './multistatus.js';
import { matchesText } from './text-match.js';
import { carddav } from './xml-names.js';

interface Line {
  name: string;
  params: string;
  value: string;
}

const LINE = /^(?:[\w-]+\.)?([\w-]+)((?:;[^:"]*(?:"[^"]*"[^:"]*)*)?):(.*)$/s;

function linesOf(text: string): Line[] {
  return text
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
    .flatMap((line) => {
      const [, name, params = '', value = ''] = LINE.exec(line) ?? [];
      return name === undefined
        ? []
        : [{ name: name.toUpperCase(), params, value: value.replaceAll(/\\([,;\\])/g, '$1') }];
    });
}

const isAll = ({ attributes }: XmlElement): boolean => attributes['test'] === 'allof';
const combine = (all: boolean, results: readonly boolean[]): boolean =>
  all ? results.every(Boolean) : results.some(Boolean);

/** Whether a vCard matches an `addressbook-query` filter (RFC 6352, 10.5). @param filter undefined or empty: all cards */
export function matchesCard(filter: XmlElement | undefined, text: string): boolean {
  const filters = filter ? childrenOf(filter, carddav('prop-filter')) : [];
  if (!filter || filters.length === 0) return true;
  const lines = linesOf(text);
  return combine(
    isAll(filter),
    filters.map((each) => matchesProperty(each, lines)),
  );
}

function matchesProperty(filter: XmlElement, lines: readonly Line[]): boolean {
  const name = (filter.attributes['name'] ?? '').toUpperCase();
  const found = lines.filter((line) => line.name === name);
  if (childOf(filter, carddav('is-not-defined'))) return found.length === 0;
  const texts = childrenOf(filter, carddav('text-match'));
  const params = childrenOf(filter, carddav('param-filter'));
  if (texts.length + params.length === 0) return found.length > 0;
  return found.some((line) =>
    combine(isAll(filter), [
      ...texts.map((each) => matchesText(each, line.value)),
      ...params.map((each) => matchesParameter(each, line)),
    ]),
  );
}

function matchesParameter(filter: XmlElement, { params }: Line): boolean {
  const name = (filter.attributes['name'] ?? '').toUpperCase();
  const values = params
    .split(';')
    .flatMap((part) => (part.toUpperCase().startsWith(`${name}=`) ? [part.slice(name.length + 1)] : []));
  if (childOf(filter, carddav('is-not-defined'))) return values.length === 0;
  const text = childOf(filter, carddav('text-match'));
  return values.some((value) => !text || matchesText(text, value.replaceAll('"', '')));
}
