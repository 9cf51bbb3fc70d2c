import { all, child, type Docx, type Xml } from './read-docx.ts';

/** Orders of child elements in the schema of WordprocessingML. Word reports files with another order as damaged. */
const ORDER: Record<string, string[]> = {
  'w:pPr': 'pStyle keepNext keepLines pageBreakBefore numPr pBdr shd bidi spacing ind jc outlineLvl'.split(
    ' ',
  ),
  'w:rPr':
    'rStyle rFonts b bCs i iCs caps smallCaps strike noProof color spacing sz szCs highlight u shd vertAlign rtl cs lang'.split(
      ' ',
    ),
  'w:tcPr': 'tcW gridSpan vMerge tcBorders shd vAlign'.split(' '),
  'w:tblPr': 'tblStyle bidiVisual tblW tblInd tblBorders tblLayout tblCellMar tblLook'.split(' '),
};

/** Elements whose attributes are whole numbers or words: Word rejects fractions. */
const MEASURES = new Set(
  'w:ind w:gridCol w:tcW w:tblW w:tblInd w:sz w:szCs w:gridSpan w:ilvl w:numId wp:extent a:ext'.split(' '),
);

/** The allowed content of elements. Word offers to "repair" a file with other content. */
const CONTENT: Record<string, RegExp> = {
  'w:body': /^w:(?:p|tbl|sectPr)$/,
  'w:tc': /^w:(?:tcPr|p|tbl)$/,
  'w:tr': /^w:(?:trPr|tc)$/,
  'w:tbl': /^w:(?:tblPr|tblGrid|tr)$/,
  'w:p': /^w:(?:pPr|r|hyperlink|sdt|bookmarkStart|bookmarkEnd)$/,
  'w:hyperlink': /^w:(?:r|sdt)$/,
  'w:r': /^w:(?:rPr|t|br|tab|drawing)$/,
};

/** Checks the rules of the format that the writer could break. @returns the violations */
export function violations(docx: Docx): string[] {
  const found: string[] = [];
  const report = (violation: string): void => void found.push(violation);
  for (const path of Object.keys(docx.files)) if (/\.(?:xml|rels)$/.test(path)) docx.part(path);

  walk(docx.body, (node) => {
    const order = ORDER[node.name];
    if (order) {
      const places = node.children.map(({ name }) => order.indexOf(name.slice(2)));
      if (places.some((place, i) => place < 0 || (i > 0 && place <= places[i - 1]!)))
        report(`${node.name}: ${node.children.map(({ name }) => name).join(' ')}`);
    }
    if (MEASURES.has(node.name))
      for (const [name, value] of Object.entries(node.attributes))
        if (!/^(?:-?\d+|dxa|auto|id|[a-z]+)$/.test(value)) report(`${node.name} ${name}=${value}`);
    const content = CONTENT[node.name];
    const other = content && node.children.find(({ name }) => !content.test(name));
    if (other) report(`${other.name} in ${node.name}`);
    if (node.name !== 'w:t' && node.text.trim() !== '') report(`text in ${node.name}`);
    if (node.name === 'w:tc' && node.children.at(-1)?.name !== 'w:p')
      report('a cell without a last paragraph');
    if (node.name === 'w:tbl') table(node, report);
    const next = node.children.findIndex(
      ({ name }, i) => name === 'w:tbl' && node.children[i + 1]?.name === 'w:tbl',
    );
    if (next >= 0) report('adjacent tables');
  });
  if (docx.body.children.at(-2)?.name !== 'w:p') report('no last paragraph');
  if (docx.body.children.at(-1)?.name !== 'w:sectPr') report('no section');
  references(docx, report);
  return found;
}

function walk(node: Xml, visit: (node: Xml) => void): void {
  visit(node);
  for (const each of node.children) walk(each, visit);
}

function table(node: Xml, report: (violation: string) => void): void {
  const columns = child(node, 'w:tblGrid')!.children.length;
  if (columns > 63) report(`${columns} columns`);
  const rows = node.children.filter(({ name }) => name === 'w:tr');
  if (rows.length === 0) report('a table without rows');
  let above: Map<number, number> = new Map();
  let header = true;
  for (const row of rows) {
    const isHeader = all(child(row, 'w:trPr') ?? row, 'w:tblHeader').length > 0 && !!child(row, 'w:trPr');
    if (isHeader && !header) report('a header row below others');
    header = isHeader;
    let at = 0;
    const merged = new Map<number, number>();
    for (const cell of row.children.filter(({ name }) => name === 'w:tc')) {
      const properties = child(cell, 'w:tcPr')!;
      const span = Number(child(properties, 'w:gridSpan')?.attributes['w:val'] ?? 1);
      const merge = child(properties, 'w:vMerge')?.attributes['w:val'];
      if (merge === 'continue' && above.get(at) !== span) report('a merged cell without a cell above it');
      if (merge) merged.set(at, span);
      at += span;
    }
    if (at !== columns) report(`a row of ${at} in a grid of ${columns}`);
    above = merged;
  }
}

function references(docx: Docx, report: (violation: string) => void): void {
  const relationships = docx
    .part('word/_rels/document.xml.rels')
    .children.map(({ attributes }) => attributes);
  const ids = new Set(relationships.map(({ Id }) => Id));
  if (ids.size !== relationships.length) report('relationships with the same id');
  for (const { TargetMode, Target } of relationships) {
    if (TargetMode === 'External') {
      if (!/^(?:https?|mailto|tel):[!-~]*$/.test(Target!)) report(`link to ${Target}`);
    } else if (!docx.files[`word/${Target}`]) report(`no part ${Target}`);
  }
  const bookmarks = all(docx.body, 'w:bookmarkStart').map(({ attributes }) => attributes['w:name']);
  if (new Set(bookmarks).size !== bookmarks.length) report('bookmarks with the same name');
  const links = all(docx.body, 'w:hyperlink').map(({ attributes }) => attributes);
  for (const { 'w:anchor': anchor } of links)
    if (anchor !== undefined && !bookmarks.includes(anchor)) report(`no bookmark ${anchor}`);
  const used = [
    ...links.flatMap((attributes) => (attributes['w:anchor'] === undefined ? [attributes['r:id']] : [])),
    ...all(docx.body, 'a:blip').map(({ attributes }) => attributes['r:embed']),
  ];
  for (const id of used) if (!ids.has(id)) report(`no relationship ${id}`);
  const numbers = new Set(
    docx
      .part('word/numbering.xml')
      .children.filter(({ name }) => name === 'w:num')
      .map(({ attributes }) => attributes['w:numId']),
  );
  for (const { attributes } of all(docx.body, 'w:numId'))
    if (!numbers.has(attributes['w:val'])) report(`no numbering ${attributes['w:val']}`);
  const styles = new Set(
    docx.part('word/styles.xml').children.map(({ attributes }) => attributes['w:styleId']),
  );
  for (const name of ['w:pStyle', 'w:rStyle', 'w:tblStyle'])
    for (const { attributes } of all(docx.body, name))
      if (!styles.has(attributes['w:val'])) report(`no style ${attributes['w:val']}`);
  const objects = [...all(docx.body, 'wp:docPr'), ...all(docx.body, 'w:id')].map(
    ({ attributes }) => attributes['id'] ?? attributes['w:val'],
  );
  if (new Set(objects).size !== objects.length) report('objects with the same id');
}
