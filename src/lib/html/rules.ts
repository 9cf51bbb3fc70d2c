import type { Schema } from 'hast-util-sanitize';

/** What an attribute may hold: anything, a value that matches, or nothing but its presence. */
export type AttributeRule = 'any' | 'present' | RegExp;

/**
 * Links. Absolute ones need a known scheme. Relative ones (`#heading`, `/files/1`, `page`) are allowed because editors
 * link headings and attachments that way; a colon before the first `/`, `?` or `#` would make a scheme of it, so that is
 * refused, which covers every disguise of `javascript:` (case, entities, tabs, leading control characters).
 */
const LINK = /^(?:[\t\n\f\r ]*(?:https?|mailto|tel|cid):|[^:/?#]*(?:[/?#]|$))/i;
/** Pictures: the same without `mailto:` and `tel:`, plus raster data. SVG data is a document, hence not a picture here. */
const PICTURE =
  /^(?:[\t\n\f\r ]*(?:https?|cid):|[\t\n\f\r ]*data:image\/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=%\s]*$|[^:/?#]*(?:[/?#]|$))/i;
const WEB = /^[\t\n\f\r ]*https?:/i;
const INTEGER = /^-?\d{1,9}$/;
const SPAN = /^\d{1,4}$/;
const SIZE = /^\d{1,5}(?:\.\d{1,6})?(?:px|%)?$/;
const CHECKBOX = /^checkbox$/i;

/**
 * An `id` becomes a property of `window` and `document` (DOM clobbering), so only ids under the prefix that GitHub made
 * customary survive; others are dropped rather than renamed, since renaming again at each save would never end.
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

/** Every allowed element with the attributes it may carry beyond the global ones. */
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

/** Attributes every allowed element may carry. `style` is judged declaration by declaration afterwards. */
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

/** Where editors keep their state. */
export const DATA_ATTRIBUTE = /^data-[a-z0-9_.:-]{1,100}$/;

/** Removed with everything in them: code, documents in documents, foreign content and text that only parsers see. */
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
 * The same table in the words of hast-util-sanitize. Properties go by their attribute names as written in HTML (our trees
 * are built that way, see html-tree.ts), so that no two attributes can fold into one property before they are judged.
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
