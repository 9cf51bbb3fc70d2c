import type { Element, ElementContent, Root } from 'hast';
import { formulaText, isFormula } from './formulas.js';
import { TAGS } from './rules.js';

const DISPLAY_OR_VISIBILITY = /^\s*(display|visibility)\s*:\s*([a-z-]+)\s*(!\s*important\s*)?$/i;
const HIDING_VALUE = /^(?:none|hidden|collapse)$/i;

/**
 * Whether a style hides its element in browsers. Of several declarations the last one counts, or the last important one: mails hide parts
 * from some programs that way. Word's `mso-hide` hides nothing in browsers: buttons have it whose other form only Word draws.
 */
export function hidesElement(style: string): boolean {
  const counting = new Map<string, { value: string; isImportant: boolean }>();
  for (const declaration of style.split(';')) {
    const [, name = '', value = '', important] = DISPLAY_OR_VISIBILITY.exec(declaration) ?? [];
    const key = name.toLowerCase();
    const isImportant = important !== undefined;
    if (value !== '' && (isImportant || !counting.get(key)?.isImportant))
      counting.set(key, { value, isImportant });
  }
  return [...counting.values()].some(({ value }) => HIDING_VALUE.test(value));
}

/** `hidden="until-found"` is text that a search within the page opens. */
export const FOUND_ONLY = /^\s*until-found\s*$/i;

/** Of the wrappers in which programs hide the formula that screen readers read. */
const MAX_WRAPPERS = 4;

/**
 * Leaves one readable form of each text, the one that browsers show, in place: the policy removes what hides the others. Hidden elements go,
 * except for the closed parts of details. Formulas become lines of text; KaTeX and MathJax write each of them twice, once drawn for the
 * eye. Check boxes that are no elements of HTML, or elements without their state, become those of HTML.
 * @returns whether anything changed
 */
export function showVisible(parent: Root | Element): boolean {
  const children = parent.children as ElementContent[];
  const hasDetails = isNamed(parent, 'details') || children.some((child) => isNamed(child, 'summary'));
  const shown = children.filter((child) => hasDetails || !isHidden(child));
  const isFormulaTwice = isWrapper(parent) && shown.some(holdsFormula) && !shown.some(isText);
  let changed = shown.length < children.length;
  const content = shown.flatMap((child): ElementContent[] => {
    if (child.type !== 'element') return [child];
    if (isFormulaTwice && child.properties['aria-hidden'] === 'true' && !holdsFormula(child)) {
      changed = true;
      return [];
    }
    if (isFormula(child)) {
      changed = true;
      return formulaText(child, visibleContent);
    }
    if (showVisible(child)) changed = true;
    const box = checkboxOf(child);
    if (box) changed = true;
    return box ? [box, ...child.children] : [child];
  });
  if (changed) parent.children = content;
  return changed;
}

/** An element within a formula, which is none of its own. */
function visibleContent(element: Element): ElementContent[] {
  const around: Root = { type: 'root', children: [element] };
  showVisible(around);
  return around.children as ElementContent[];
}

const isNamed = (node: Root | ElementContent, name: string): boolean =>
  node.type === 'element' && node.tagName === name;

/** Whether an element may be the one around the forms of a formula; others have decorations too. */
const isWrapper = (node: Root | Element): boolean =>
  node.type === 'element' && (node.tagName === 'span' || node.tagName.includes('-'));

const isText = (node: ElementContent): boolean => node.type === 'text' && node.value.trim() !== '';

function isHidden(node: ElementContent): boolean {
  if (node.type !== 'element') return false;
  const { hidden, style } = node.properties;
  if (hidden !== undefined && !FOUND_ONLY.test(String(hidden))) return true;
  return typeof style === 'string' && hidesElement(style);
}

/** Whether an element is a formula, or only wraps one. */
function holdsFormula(node: ElementContent): boolean {
  let inner: ElementContent | undefined = node;
  for (let n = 0; n <= MAX_WRAPPERS && inner?.type === 'element'; n += 1) {
    if (isFormula(inner)) return true;
    const { children }: Element = inner;
    inner = children.length === 1 ? children[0] : undefined;
  }
  return false;
}

/** Evernote's state of a task in a list. */
const LIST_STATE = /(?:^|;)\s*--en-checked\s*:\s*(true|false)\s*(?:;|$)/i;

/** The check box of HTML in place of an element that the policy removes; undefined for another element. */
function checkboxOf(element: Element): ElementContent | undefined {
  const { tagName, properties } = element;
  const state = tagName === 'li' ? LIST_STATE.exec(properties['style'] ?? '')?.[1] : undefined;
  if (state !== undefined) properties['data-checked'] ??= state.toLowerCase();
  const isTodo = tagName === 'en-todo';
  if (!isTodo && (properties['role'] !== 'checkbox' || TAGS.has(tagName))) return undefined;
  const { checked, 'aria-checked': stated } = properties;
  const isChecked = isTodo
    ? checked !== undefined && !/^false$/i.test(String(checked))
    : checked === true || stated === 'true';
  return {
    type: 'element',
    tagName: 'input',
    properties: { type: 'checkbox', ...(isChecked && { checked: true }) },
    children: [],
  };
}
