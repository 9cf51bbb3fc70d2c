import type { Schema } from 'hast-util-sanitize';

/** The allowed values of an attribute: any, matching ones, or none (a boolean attribute). */
export type AttributeRule = 'any' | 'present' | RegExp;

/**
 * Links. Absolute ones need a known scheme. Relative ones (`#heading`, `/files/1`, `page`) are allowed, because editors use them
 * for headings and attachments. A colon before the first `/`, `?` or `#` marks a scheme and is rejected, which covers all
 * variants of `javascript:` (case, entities, tabs, leading control characters).
 */
const LINK = /^(?:[\t\n\f\r ]*(?:https?|mailto|tel|cid):|[^:/?#]*(?:[/?#]|$))/i;
/** Images: the same without `mailto:` and `tel:`, and raster `data:` URLs. SVG is a document and not allowed. */
const PICTURE =
  /^(?:[\t\n\f\r ]*(?:https?|cid):|[\t\n\f\r ]*data:image\/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=%\s]*$|[^:/?#]*(?:[/?#]|$))/i;
const WEB = /^[\t\n\f\r ]*https?:/i;
const INTEGER = /^-?\d{1,9}$/;
const SPAN = /^\d{1,4}$/;
const SIZE = /^\d{1,5}(?:\.\d{1,6})?(?:px|%)?$/;
const CHECKBOX = /^checkbox$/i;

/**
 * Browsers make an `id` a property of `window` and `document` (DOM clobbering), so only ids with the prefix that GitHub uses are
 * allowed. Others are dropped instead of renamed, because each save would rename them again.
 */
const ID = /^user-content-[\w.:-]{1,200}$/;

const rules = (entries: Record<string, AttributeRule>): ReadonlyMap<string, AttributeRule> =>
  new Map(Object.entries(entries));

const NONE = rules({});
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
});
const COLUMN = rules({ span: SPAN, width: SIZE });

const PLAIN_TAGS =
  'p div span br hr h1 h2 h3 h4 h5 h6 ul dl dt dd pre code kbd samp var b strong i em u s sub sup small mark abbr cite ' +
  'tr caption thead tbody tfoot figure figcaption summary section article header footer nav aside main address ' +
  'ruby rt rp bdi bdo wbr';

/** The allowed elements with their attributes in addition to the global ones. */
export const TAGS: ReadonlyMap<string, ReadonlyMap<string, AttributeRule>> = new Map([
  ...PLAIN_TAGS.split(' ').map((tag) => [tag, NONE] as const),
  ['ol', rules({ start: INTEGER, type: /^[1aAiI]$/, reversed: 'present' })],
  ['li', rules({ value: INTEGER })],
  ['blockquote', CITED],
  ['q', CITED],
  ['del', CHANGED],
  ['ins', CHANGED],
  ['time', rules({ datetime: 'any' })],
  ['table', rules({ width: SIZE, border: SPAN, cellpadding: SPAN, cellspacing: SPAN })],
  ['th', CELL],
  ['td', CELL],
  ['colgroup', COLUMN],
  ['col', COLUMN],
  ['img', rules({ src: PICTURE, alt: 'any', width: SIZE, height: SIZE })],
  [
    'a',
    rules({
      href: LINK,
      target: /^_(?:blank|self)$/i,
      rel: /^(?:noopener|noreferrer|nofollow|external|ugc|sponsored|tag|license|author|me|help|next|prev|bookmark)$/i,
    }),
  ],
  ['details', rules({ open: 'present' })],
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

/** Elements that are removed with their content: code, embedded documents, foreign content and raw text. */
const REMOVED_WITH_CONTENT = [
  'script',
  'style',
  'template',
  'iframe',
  'frame',
  'frameset',
  'object',
  'embed',
  'applet',
  'noscript',
  'noembed',
  'noframes',
  'title',
  'svg',
  'math',
];

const definition = ([name, rule]: [string, AttributeRule]): string | [string, RegExp] =>
  rule instanceof RegExp ? [name, rule] : name;

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
