import { wVal } from './xml.js';

/** A paragraph or character style. The properties are in the order of the schema. */
interface StyleSpec {
  id: string;
  name: string;
  type?: 'paragraph' | 'character';
  basedOn?: string;
  next?: string;
  paragraph?: string;
  run?: string;
}

const runStyle = (bold: string, halfPoints?: number, color?: string): string =>
  bold +
  (color ? wVal('color', color) : '') +
  (halfPoints ? wVal('sz', halfPoints) + wVal('szCs', halfPoints) : '');
const BOLD = '<w:b/><w:bCs/>';
const DARK = '1F3864';
const HEADING_SIZES = [36, 30, 26, 24, 22, 22];
const BORDER = 'w:val="single" w:sz="4" w:space="0" w:color="A6A6A6"';

const spacing = (before: number, after: number): string =>
  `<w:spacing w:before="${before}" w:after="${after}"/>`;

/** Word's own names for its built-in styles, so that navigation, table of contents and themes work. */
const STYLES: StyleSpec[] = [
  {
    id: 'Title',
    name: 'Title',
    next: 'Normal',
    paragraph: '<w:keepNext/>' + spacing(0, 240),
    run: runStyle(BOLD, 48, DARK),
  },
  ...HEADING_SIZES.map((size, i) => ({
    id: `Heading${i + 1}`,
    name: `heading ${i + 1}`,
    next: 'Normal',
    paragraph: `<w:keepNext/><w:keepLines/>${spacing(i === 0 ? 360 : 240, 80)}${wVal('outlineLvl', i)}`,
    run: runStyle(BOLD + (i === 5 ? '<w:i/><w:iCs/>' : ''), size, DARK),
  })),
  { id: 'ListParagraph', name: 'List Paragraph', paragraph: spacing(0, 60) },
  {
    id: 'Quote',
    name: 'Quote',
    paragraph:
      '<w:pBdr><w:left w:val="single" w:sz="18" w:space="10" w:color="BFBFBF"/></w:pBdr><w:ind w:left="360"/>',
    run: '<w:color w:val="404040"/>',
  },
  {
    id: 'Code',
    name: 'Code',
    paragraph:
      `<w:pBdr>${['top', 'left', 'bottom', 'right'].map((side) => `<w:${side} w:val="single" w:sz="4" w:space="4" w:color="D9D9D9"/>`).join('')}</w:pBdr>` +
      `<w:shd w:val="clear" w:color="auto" w:fill="F6F6F6"/>${spacing(80, 160)}`,
    run: '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Courier New"/><w:noProof/><w:sz w:val="20"/><w:szCs w:val="20"/>',
  },
  {
    id: 'Caption',
    name: 'caption',
    paragraph: spacing(0, 120),
    run: '<w:i/><w:iCs/><w:color w:val="404040"/><w:sz w:val="18"/><w:szCs w:val="18"/>',
  },
  {
    id: 'HorizontalRule',
    name: 'Horizontal Rule',
    paragraph: '<w:pBdr><w:bottom w:val="single" w:sz="6" w:space="1" w:color="A6A6A6"/></w:pBdr>',
  },
  {
    id: 'Hyperlink',
    name: 'Hyperlink',
    type: 'character',
    run: '<w:color w:val="0563C1"/><w:u w:val="single"/>',
  },
  {
    id: 'CodeText',
    name: 'Code Text',
    type: 'character',
    run: '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Courier New"/><w:noProof/><w:shd w:val="clear" w:color="auto" w:fill="F2F2F2"/>',
  },
];

function styleXml({ id, name, type = 'paragraph', next, paragraph, run }: StyleSpec): string {
  return (
    `<w:style w:type="${type}" w:styleId="${id}">${wVal('name', name)}` +
    wVal('basedOn', type === 'paragraph' ? 'Normal' : 'DefaultParagraphFont') +
    (next ? wVal('next', next) : '') +
    '<w:qFormat/>' +
    (paragraph ? `<w:pPr>${paragraph}</w:pPr>` : '') +
    (run ? `<w:rPr>${run}</w:rPr>` : '') +
    '</w:style>'
  );
}

const DEFAULTS =
  '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Microsoft YaHei" w:cs="Arial"/>' +
  '<w:sz w:val="22"/><w:szCs w:val="22"/><w:lang w:val="en-US" w:eastAsia="zh-CN" w:bidi="ar-SA"/></w:rPr></w:rPrDefault>' +
  '<w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="264" w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults>';

const BASES =
  '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>' +
  '<w:style w:type="character" w:default="1" w:styleId="DefaultParagraphFont"><w:name w:val="Default Paragraph Font"/><w:uiPriority w:val="1"/><w:semiHidden/></w:style>' +
  '<w:style w:type="table" w:default="1" w:styleId="TableNormal"><w:name w:val="Normal Table"/><w:uiPriority w:val="99"/><w:semiHidden/>' +
  '<w:tblPr><w:tblInd w:w="0" w:type="dxa"/><w:tblCellMar><w:top w:w="0" w:type="dxa"/><w:left w:w="108" w:type="dxa"/><w:bottom w:w="0" w:type="dxa"/><w:right w:w="108" w:type="dxa"/></w:tblCellMar></w:tblPr></w:style>' +
  '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:basedOn w:val="TableNormal"/><w:pPr><w:spacing w:after="0" w:line="240" w:lineRule="auto"/></w:pPr>' +
  `<w:tblPr><w:tblBorders>${['top', 'left', 'bottom', 'right', 'insideH', 'insideV'].map((side) => `<w:${side} ${BORDER}/>`).join('')}</w:tblBorders></w:tblPr></w:style>`;

/** The content of `w:styles`. */
export const STYLES_XML: string = DEFAULTS + BASES + STYLES.map(styleXml).join('');
