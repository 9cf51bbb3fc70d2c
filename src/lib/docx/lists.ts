import type { Element } from 'hast';
import { attribute, declarations } from './css.js';
import { wVal } from './xml.js';

/** Indent of each level, twips. */
export const LIST_STEP = 425;
/** Word has nine levels. Deeper lists look like the ninth. */
const LEVELS = 9;
/** Word stores these numbers in 16 bits. Lists over the limit share one numbering; larger numbers are limited. */
const MAX_LISTS = 30_000;
const MAX_NUMBER = 32_767;

const FORMATS = ['bullet', 'decimal', 'lowerLetter', 'upperLetter', 'lowerRoman', 'upperRoman'] as const;
type Format = (typeof FORMATS)[number];

const BY_TYPE: Readonly<Record<string, Format>> = {
  '1': 'decimal',
  a: 'lowerLetter',
  A: 'upperLetter',
  i: 'lowerRoman',
  I: 'upperRoman',
};
const BY_CSS: Readonly<Record<string, Format | 'none'>> = {
  none: 'none',
  decimal: 'decimal',
  'decimal-leading-zero': 'decimal',
  'lower-alpha': 'lowerLetter',
  'lower-latin': 'lowerLetter',
  'upper-alpha': 'upperLetter',
  'upper-latin': 'upperLetter',
  'lower-roman': 'lowerRoman',
  'upper-roman': 'upperRoman',
  disc: 'bullet',
  circle: 'bullet',
  square: 'bullet',
};
const BULLETS = ['•', '◦', '▪'];

/** The marker of a list item. */
export type Marker =
  | { kind: 'number'; id: number; level: number }
  | { kind: 'box'; checked: boolean }
  | { kind: 'none' };

/** The numberings of a document. Each ordered list has its own, so that its numbers start again. */
export class Numberings {
  private readonly instances: { format: Format; level: number; start: number }[] = [];

  /** @returns the id of a new numbering that starts at `start` */
  begin(format: Format, level: number, start: number): number {
    if (this.instances.length >= MAX_LISTS) return sharedId(format);
    this.instances.push({ format, level, start: Math.max(0, Math.min(MAX_NUMBER, start)) });
    return FORMATS.length + this.instances.length;
  }

  /** The contents of `w:numbering`. */
  toXml(): string {
    return (
      FORMATS.map(abstractNumbering).join('') +
      FORMATS.map((format) => numbering(sharedId(format), format)).join('') +
      this.instances
        .map(({ format, level, start }, i) =>
          numbering(
            FORMATS.length + i + 1,
            format,
            `<w:lvlOverride w:ilvl="${level}">${wVal('startOverride', start)}</w:lvlOverride>`,
          ),
        )
        .join('')
    );
  }
}

/** The first numberings are one for each format: for bullets, and for ordered lists over the limit. */
const sharedId = (format: Format): number => FORMATS.indexOf(format) + 1;

function numbering(id: number, format: Format, override = ''): string {
  return `<w:num w:numId="${id}">${wVal('abstractNumId', FORMATS.indexOf(format))}${override}</w:num>`;
}

function abstractNumbering(format: Format, id: number): string {
  const levels = Array.from({ length: LEVELS }, (_, level) => {
    const text = format === 'bullet' ? BULLETS[level % BULLETS.length] : `%${level + 1}.`;
    const indent = `<w:pPr><w:ind w:left="${LIST_STEP * (level + 1)}" w:hanging="${LIST_STEP}"/></w:pPr>`;
    return `<w:lvl w:ilvl="${level}">${wVal('start', 1)}${wVal('numFmt', format)}${wVal('lvlText', text ?? '')}${wVal('lvlJc', 'left')}${indent}</w:lvl>`;
  });
  return `<w:abstractNum w:abstractNumId="${id}">${wVal('multiLevelType', 'hybridMultilevel')}${levels.join('')}</w:abstractNum>`;
}

/** Creates the markers of the items of a list, in order. */
export class ListMarkers {
  private readonly format: Format | 'none';
  private readonly level: number;
  private readonly reversed: boolean;
  /** The numbering of each level: items of Quill have levels of their own in one list. */
  private readonly counters = new Map<number, { id: number | undefined; next: number }>();

  /** @param depth number of lists around this one */
  constructor(
    private readonly list: Element,
    depth: number,
    private readonly numberings: Numberings,
  ) {
    this.level = Math.min(depth, LEVELS - 1);
    this.format = formatOf(list);
    this.reversed = list.properties['reversed'] === true;
    const next = integer(attribute(list, 'start')) ?? (this.reversed ? items(list) : 1);
    this.counters.set(this.level, { id: undefined, next });
  }

  of(item: Element): Marker {
    const checked = checkedState(item, this.list);
    if (checked !== undefined) return { kind: 'box', checked };
    const format = ITEM_FORMATS[attribute(item, 'data-list') ?? ''] ?? this.format;
    if (format === 'none') return { kind: 'none' };
    const level = Math.min(this.level + indentOf(item), LEVELS - 1);
    for (const deeper of this.counters.keys()) if (deeper > level) this.counters.delete(deeper);
    if (format === 'bullet') return { kind: 'number', id: sharedId(format), level };
    const counter = this.counters.get(level) ?? { id: undefined, next: 1 };
    this.counters.set(level, counter);
    const value = integer(attribute(item, 'value'));
    // Word only increments. An explicit number needs a numbering that starts with it.
    if (value !== undefined) counter.next = value;
    const id =
      counter.id === undefined || value !== undefined || this.reversed
        ? this.numberings.begin(format, level, counter.next)
        : counter.id;
    counter.id = id;
    counter.next += this.reversed ? -1 : 1;
    return { kind: 'number', id, level };
  }
}

/** Formats of the items of Quill, whose lists are all `ol`. */
const ITEM_FORMATS: Readonly<Record<string, Format>> = { bullet: 'bullet', ordered: 'decimal' };
/** Levels of an item in a flat list, of Quill and of Slack. */
const indentOf = (item: Element): number =>
  Number(
    /(?:^|\s)ql-indent-([1-8])(?:\s|$)/.exec(classOf(item))?.[1] ??
      /^[1-8]$/.exec(attribute(item, 'data-indent') ?? '')?.[0] ??
      0,
  );

function formatOf(list: Element): Format | 'none' {
  const css = BY_CSS[declarations(list).get('list-style-type') ?? ''];
  if (css !== undefined) return css;
  return list.tagName === 'ol' ? (BY_TYPE[attribute(list, 'type') ?? ''] ?? 'decimal') : 'bullet';
}

const items = (list: Element): number =>
  list.children.filter((child) => child.type === 'element' && child.tagName === 'li').length;

function integer(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** @returns whether a task item is checked; undefined for other items. Editors use different markup. */
function checkedState(item: Element, list: Element): boolean | undefined {
  const box = leadingCheckbox(item);
  if (box?.tagName === 'input') return isChecked(box);
  const drawn = box && drawnState(box);
  if (drawn !== undefined) return drawn;
  const state =
    attribute(item, 'data-checked') ??
    attribute(item, 'data-list') ??
    (attribute(item, 'role') === 'checkbox' ? attribute(item, 'aria-checked') : undefined) ??
    attribute(list, 'data-checked');
  if (state === 'true' || state === 'checked') return true;
  if (state === 'false' || state === 'unchecked') return false;
  const lists = classOf(list);
  return TASK_LISTS.test(lists) ? CHECKED.test(classOf(item)) || DONE_LIST.test(lists) : undefined;
}

export const isChecked = (box: Element): boolean => box.properties['checked'] !== undefined;

const classOf = (element: Element): string => attribute(element, 'class') ?? '';

/** Classes of lists of tasks: Notion, GitHub, Confluence, CKEditor, Dropbox Paper, TinyMCE, Joplin. */
const TASK_LISTS =
  /(?:^|\s)(?:to-?do-list|contains-task-list|inline-task-list|task-?list|(?:tox-|joplin-)?check-?list|listtype-task(?:done)?)(?:\s|$)/i;
const DONE_LIST = /(?:^|\s)listtype-taskdone(?:\s|$)/i;
const CHECKED =
  /(?:^|\s)(?:(?:checkbox|is|task|task-list-item|tox-checklist-)-)?(?:checked|done|completed|on)(?:\s|$)/i;

/** The state of a text that OneNote has tagged as a task; undefined for another one. */
export function taggedState(element: Element): boolean | undefined {
  const tag = /(?:^|,)\s*to-do(?:-priority-[12])?(:completed)?\s*(?:,|$)/i.exec(
    attribute(element, 'data-tag') ?? '',
  );
  return tag ? tag[1] !== undefined : undefined;
}

/** The state of an element without text that is drawn as a check box, by its role or as Notion does; undefined for another one. */
export function drawnState(element: Element): boolean | undefined {
  if (element.children.length > 0) return undefined;
  const state = attribute(element, 'role') === 'checkbox' ? attribute(element, 'aria-checked') : undefined;
  if (state !== undefined) return state === 'true';
  const classes = classOf(element);
  return /(?:^|\s)checkbox(?:\s|$)/i.test(classes) ? CHECKED.test(classes) : undefined;
}

/** @returns the check box at the beginning of an item's text, or what is drawn in its place (Google Docs, Notion), in any wrapper */
export function leadingCheckbox(parent: Element): Element | undefined {
  for (const child of parent.children) {
    if (child.type === 'text' && child.value.trim() !== '') return undefined;
    if (child.type !== 'element') continue;
    if (child.tagName === 'input' || attribute(child, 'aria-roledescription') === 'checkbox') return child;
    if (drawnState(child) !== undefined) return child;
    if (!/^(?:label|span|p|div)$/.test(child.tagName)) return undefined;
    const box = leadingCheckbox(child);
    // Empty wrappers are skipped. A wrapper with text is the beginning of the item.
    if (box || child.children.length > 0) return box;
  }
  return undefined;
}
