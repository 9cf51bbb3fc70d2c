import type { Element, Nodes, Root } from 'hast';
import type { Schema } from 'hast-util-sanitize';
import { percentDecoded } from '../text/index.js';
import { COLOR } from './style.js';

const PREFIX = 'user-content-';
/** A name that an id can have: no white space, no control or invisible characters. */
const NAME = /^[^\s\p{Cc}\p{Cf}\p{Cs}]{1,200}$/u;
const REFERENCES = [
  'for',
  'headers',
  ...'activedescendant controls describedby details errormessage flowto labelledby owns'
    .split(' ')
    .map((name) => `aria-${name}`),
];

/** The names of elements that links may have as a target, with the prefix of `prefixIds`. */
export const ID = /^user-content-[^\s\p{Cc}\p{Cf}\p{Cs}]{1,200}$/u;

/**
 * Puts a prefix before the ids of a tree, and before the names of links to them, as GitHub does. Browsers make ids properties of
 * `window` and `document`; without a prefix, they could replace those of a page (DOM clobbering). A link to anything else stays: its
 * target may be outside of the text. Invalid ids are removed. A text with prefixed ids stays unchanged.
 */
export function prefixIds(root: Root): void {
  const targets = new Set<string>();
  each(root, ({ tagName, properties }) => {
    for (const attribute of tagName === 'a' ? ['id', 'name'] : ['id']) {
      const id = properties[attribute];
      if (typeof id !== 'string' || ID.test(id)) continue;
      if (!NAME.test(id)) delete properties[attribute];
      else {
        properties[attribute] = PREFIX + id;
        targets.add(id);
      }
    }
  });
  if (targets.size > 0) each(root, (element) => follow(element, targets));
}

function follow({ tagName, properties }: Element, targets: ReadonlySet<string>): void {
  const { href } = properties;
  if (tagName === 'a' && typeof href === 'string' && /^\s*#/.test(href)) {
    const fragment = href.trim().slice(1);
    if (targets.has(fragment) || targets.has(percentDecoded(fragment)))
      properties['href'] = `#${PREFIX}${fragment}`;
  }
  for (const name of REFERENCES) {
    const value = properties[name];
    if (typeof value !== 'string') continue;
    properties[name] = value.replace(/[^\t\n\f\r ]+/g, (id) => (targets.has(id) ? PREFIX + id : id));
  }
}

function each(parent: Root | Element, visit: (element: Element) => void): void {
  for (const child of parent.children as Nodes[]) {
    if (child.type !== 'element') continue;
    visit(child);
    each(child, visit);
  }
}

/** The allowed values of an attribute: any, matching ones, or none (a boolean attribute). */
export type AttributeRule = 'any' | 'present' | RegExp;

/**
 * Schemes of links. Besides the web: those that the HTML standard lets web sites register (8.3.1.1, safelisted schemes) except for `ssh`
 * and `wtai`, their encrypted variants, and those of widespread programs for calls, messages, mails, notes and maps. None of them executes
 * code; `file` does, and sends the name of the user to other machines.
 */
const SCHEMES =
  'https?|mailto|tel|cid|mid|' +
  'bitcoin|ftps?|sftp|geo|im|ircs?|magnet|matrix|mms|news|nntp|openpgp4fpr|sips?|sms|smsto|urn|webcals?|xmpp|' +
  'callto|facetime|facetime-audio|msteams|signal|skype|slack|tg|viber|webex|whatsapp|zoommtg|' +
  'evernote|git|ldaps?|maps|message|notion|obsidian|onenote|things';

/**
 * Links. Absolute ones need a known scheme. Relative ones (`#heading`, `/files/1`, `page`) are allowed, because editors use them
 * for headings and attachments. A colon before the first `/`, `?` or `#` marks a scheme and is rejected, which covers all
 * variants of `javascript:` (case, entities, tabs, leading control characters).
 */
const LINK = new RegExp(String.raw`^(?:[\t\n\f\r ]*(?:${SCHEMES}):|[^:/?#]*(?:[/?#]|$))`, 'i');
/** Images: of the web or of the same mail, and raster `data:` URLs. SVG is a document and not allowed. */
const PICTURE =
  /^(?:[\t\n\f\r ]*(?:https?|cid):|[\t\n\f\r ]*data:image\/(?:a?png|jpe?g|gif|webp|avif|bmp|hei[cf]|jxl|tiff|x-icon)(?:;charset=[\w-]{1,40})?;base64,[A-Za-z0-9+/=%\s]*$|[^:/?#]*(?:[/?#]|$))/i;
const WEB = /^[\t\n\f\r ]*https?:/i;
const INTEGER = /^-?\d{1,9}$/;
const SPAN = /^\d{1,4}$/;
const SIZE = /^\d{1,5}(?:\.\d{1,18})?(?:px|%)?$/;
const CHECKBOX = /^checkbox$/i;
const AMOUNT = /^-?\d{1,9}(?:\.\d{1,9})?$/;

const rules = (entries: Record<string, AttributeRule>): ReadonlyMap<string, AttributeRule> =>
  new Map(Object.entries(entries));

/** Presentation attributes, which browsers still support and old documents and mails contain. */
const TEXT_ALIGN = { align: /^(?:left|right|center|justify)$/i };
const PAINT = new RegExp(`^(?:${COLOR}|[0-9a-f]{6})$`, 'i');
const CELL_ALIGN = {
  align: /^(?:left|right|center|justify|char)$/i,
  valign: /^(?:top|middle|bottom|baseline)$/i,
};
const LIST = { type: /^(?:disc|circle|square)$/i, compact: 'present' } as const;

const NONE = rules({});
const ALIGNED = rules(TEXT_ALIGN);
const ROWS = rules({ ...CELL_ALIGN, bgcolor: PAINT });
const CITED = rules({ cite: WEB });
const CHANGED = rules({ cite: WEB, datetime: 'any' });
const CELL = rules({
  colspan: SPAN,
  rowspan: SPAN,
  scope: /^(?:row|col|rowgroup|colgroup)$/i,
  headers: 'any',
  abbr: 'any',
  width: SIZE,
  height: SIZE,
  // Widths of the columns that a cell spans, in pixels: ProseMirror and editors made from it.
  colwidth: /^\d{1,5}(?:,\d{1,5}){0,99}$/,
  ...CELL_ALIGN,
  bgcolor: PAINT,
  nowrap: 'present',
});
const COLUMN = rules({ span: SPAN, width: SIZE, ...CELL_ALIGN, bgcolor: PAINT });

const PLAIN_TAGS =
  'nobr span dl dt dd pre code kbd samp tt var b strong i em u s strike sub sup small big mark abbr acronym cite dfn center figure figcaption summary section article header footer nav aside main address ' +
  'ruby rt rp bdi bdo wbr';

/** The allowed elements with their attributes in addition to the global ones. */
export const TAGS: ReadonlyMap<string, ReadonlyMap<string, AttributeRule>> = new Map([
  ...PLAIN_TAGS.split(' ').map((tag) => [tag, NONE] as const),
  ...'p div h1 h2 h3 h4 h5 h6'.split(' ').map((tag) => [tag, ALIGNED] as const),
  ...'tr thead tbody tfoot'.split(' ').map((tag) => [tag, ROWS] as const),
  ['br', rules({ clear: /^(?:left|right|all|none)$/i })],
  ['hr', rules({ ...TEXT_ALIGN, width: SIZE, size: SPAN, color: PAINT, noshade: 'present' })],
  ['font', rules({ color: PAINT, face: /^[\p{L}\p{N} ,'_.-]{1,200}$/u, size: /^[+-]?\d{1,2}$/ })],
  ['ul', rules(LIST)],
  ['menu', rules(LIST)],
  ['dir', rules(LIST)],
  ['ol', rules({ start: INTEGER, type: /^[1aAiI]$/, reversed: 'present', compact: 'present' })],
  ['li', rules({ value: INTEGER, type: /^(?:[1aAiI]|disc|circle|square)$/ })],
  ['blockquote', CITED],
  ['q', CITED],
  ['del', CHANGED],
  ['ins', CHANGED],
  ['time', rules({ datetime: 'any' })],
  [
    'table',
    rules({
      width: SIZE,
      height: SIZE,
      border: SPAN,
      cellpadding: SPAN,
      cellspacing: SPAN,
      align: TEXT_ALIGN.align,
      bgcolor: PAINT,
      rules: /^(?:none|groups|rows|cols|all)$/i,
      frame: /^(?:void|above|below|hsides|lhs|rhs|vsides|box|border)$/i,
      summary: 'any',
    }),
  ],
  ['caption', rules({ align: /^(?:left|right|center|top|bottom)$/i })],
  ['th', CELL],
  ['td', CELL],
  ['colgroup', COLUMN],
  ['col', COLUMN],
  [
    'img',
    rules({
      src: PICTURE,
      alt: 'any',
      width: SIZE,
      height: SIZE,
      border: SPAN,
      hspace: SPAN,
      vspace: SPAN,
      align: /^(?:left|right|top|middle|bottom|baseline|texttop|absmiddle|absbottom)$/i,
    }),
  ],
  [
    'a',
    rules({
      href: LINK,
      name: ID,
      target: /^_(?:blank|self)$/i,
      rel: /^(?:noopener|noreferrer|nofollow|external|ugc|sponsored|tag|license|author|me|help|next|prev|bookmark)$/i,
    }),
  ],
  // The media of CKEditor, which no browser loads.
  ['oembed', rules({ url: WEB })],
  ['details', rules({ open: 'present' })],
  ['progress', rules({ value: AMOUNT, max: AMOUNT })],
  ['meter', rules({ value: AMOUNT, min: AMOUNT, max: AMOUNT, low: AMOUNT, high: AMOUNT, optimum: AMOUNT })],
  ['label', rules({ for: 'any' })],
  ['input', rules({ type: CHECKBOX, checked: 'present', disabled: 'present' })],
]);

const ARIA =
  'activedescendant atomic autocomplete braillelabel brailleroledescription busy checked colcount colindex colindextext ' +
  'colspan controls current describedby description details disabled dropeffect errormessage expanded flowto grabbed ' +
  'haspopup hidden invalid keyshortcuts label labelledby level live modal multiline multiselectable orientation owns ' +
  'placeholder posinset pressed readonly relevant required roledescription rowcount rowindex rowindextext rowspan ' +
  'selected setsize sort valuemax valuemin valuenow valuetext';

/** The allowed attributes of all elements. The declarations of `style` are checked separately. */
export const GLOBAL_ATTRIBUTES: ReadonlyMap<string, AttributeRule> = rules({
  class: 'any',
  style: 'any',
  title: 'any',
  dir: /^(?:ltr|rtl|auto)$/i,
  lang: 'any',
  id: ID,
  role: 'any',
  ...Object.fromEntries(ARIA.split(' ').map((name) => [`aria-${name}`, 'any' as const])),
});

/** Attributes in which editors store their state. */
export const DATA_ATTRIBUTE = /^data-[a-z0-9_.:-]{1,100}$/;

/**
 * Elements that are removed with their content: code, embedded documents and raw text, which browsers do not show. The text of formulas
 * (MathML) and drawings (SVG) stays, without annotations and descriptions.
 */
const REMOVED_WITH_CONTENT = [
  'script',
  'style',
  'iframe',
  'frame',
  'frameset',
  'embed',
  'noembed',
  'noframes',
  'title',
  'desc',
  'metadata',
  'annotation',
  'annotation-xml',
];

/** `prefixIds` checks ids after the sanitizer. */
const definition = ([name, rule]: [string, AttributeRule]): string | [string, RegExp] =>
  rule instanceof RegExp && rule !== ID ? [name, rule] : name;

/**
 * The same table for hast-util-sanitize. Properties have the names of the HTML attributes (see tree.ts), so that two attributes
 * cannot become one property before the check.
 */
export const SCHEMA: Schema = {
  tagNames: [...TAGS.keys()],
  strip: REMOVED_WITH_CONTENT,
  attributes: {
    ...Object.fromEntries([...TAGS].map(([tag, own]) => [tag, [...own].map(definition)])),
    '*': [...[...GLOBAL_ATTRIBUTES].map(definition), 'data*'],
  },
  ancestors: {},
  clobber: [],
  clobberPrefix: null,
  protocols: {},
  required: {},
  allowComments: false,
  allowDoctypes: false,
};
